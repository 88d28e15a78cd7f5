// What a page of the guide consists of.

import type { VNode } from "preact";
import type { OpenApiDocument } from "../schemas/document.ts";

export interface Section {
  /** Anchor of the section. */
  id: string;
  title: string;
  /** What it answers, in the list that the search reads. */
  about: string;
  Body: (props: { document: OpenApiDocument }) => VNode;
}

export interface GuidePage {
  path: string;
  title: string;
  /** The sentence below the title. */
  lead: string;
  sections: readonly Section[];
}
