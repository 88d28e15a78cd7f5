// The input of an action: a request, and the parts of the service that it uses.

import type { Fields } from "./fields.ts";
import type { Caller } from "../../db/users/keys.ts";
import type { ReadStore } from "../../db/port/port.ts";
import type { OrderDeps } from "../api/orders.ts";
import type { EndpointDeps } from "../server/request-context.ts";

export type ActionDeps = EndpointDeps & OrderDeps & { store: ReadStore };

export interface SmmCall {
  fields: Fields;
  key: Readonly<Caller>;
  requestId: string;
}
