// The calls that the portal's pages and actions receive.

import type * as web from "../../web/server/call.ts";
import type * as route from "../../web/server/route.ts";
import type { Portal } from "./portal.ts";
import type { Visitor } from "./visitor.ts";

export type Call = web.Call<Visitor>;
export type Submission = web.Submission<Visitor>;
export type Page = route.Page<Visitor, Portal>;
export type Action = route.Action<Visitor, Portal>;
