// Routes of this folder.

import { get, type Route } from "../server/route.ts";
import { ordersPage } from "./orders.tsx";

export const routes: readonly Route[] = [get("/orders", "read", ordersPage)];
