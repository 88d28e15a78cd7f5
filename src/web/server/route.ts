// Routes of a site: pages, and actions that handle forms. `Parts`: the parts of the server that they use.

import type { Call, Submission } from "./call.ts";
import type { IncomingRequest } from "../../http1/request.ts";
import type { FormBody } from "./form-body.ts";
import type { Redirect, View } from "./results.ts";
import type { Visitor } from "../sessions/visitor.ts";

/** Handles a GET request. Returns a view, or as a Response a file to download, to which the site adds its headers. */
export type Page<Who extends Visitor, Parts> = (
  call: Call<Who>,
  parts: Parts,
) => View | Response | Promise<View | Response>;

/** Handles a form. Returns a redirect, or a view for something shown only once, such as a new key. */
export type Action<Who extends Visitor, Parts> = (
  submission: Submission<Who>,
  parts: Parts,
) => Redirect | View | Promise<Redirect | View>;

export interface PageRoute<Who extends Visitor, Parts, Role> {
  method: "GET";
  path: string;
  /** The role that the visitor needs at least; `anyone`: not even signed in. */
  role: Role | "anyone";
  page: Page<Who, Parts>;
}

export interface ActionRoute<Who extends Visitor, Parts, Role> {
  method: "POST";
  path: string;
  role: Role | "anyone";
  action: Action<Who, Parts>;
  /** Path of the page with the form. */
  back: string;
  /** Whether programs and other sites may send it: the path holds what permits it. */
  isForAll?: true;
  /** Reads the form while it arrives, because it is too long for memory. The site's `streamed` names the path. */
  read?: (request: IncomingRequest, parts: Parts) => Promise<FormBody>;
}

export type Route<Who extends Visitor, Parts, Role> =
  PageRoute<Who, Parts, Role> | ActionRoute<Who, Parts, Role>;
