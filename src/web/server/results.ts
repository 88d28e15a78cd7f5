// What pages and actions return.

import type { ComponentChildren } from "preact";
import type { NoteTone } from "./notes.ts";

/** A page to show inside the layout. */
export interface View {
  title: string;
  body: ComponentChildren;
  /** Status of the response, by default 200. */
  status?: number;
  cookie?: string;
}

/** The page to show after a completed action, and a note shown there once. */
export interface Redirect {
  to: string;
  note?: string;
  /** The note's colour; by default `good`. `busy`: done in part, or with something to look at. */
  tone?: NoteTone;
  cookie?: string;
}
