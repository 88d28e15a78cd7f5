// Routes of this folder.

import { get, post, type Route } from "../server/route.ts";
import { chooseServicePage } from "./choose-service.tsx";
import { newOrderPage, placeOrder } from "./new-order.tsx";
import { placeOrders, severalOrdersPage } from "./several-orders.tsx";
import { askRequest, orderPage } from "./order.tsx";
import { ordersCsv, ordersPage } from "./orders.tsx";

export const routes: readonly Route[] = [
  get("/orders", "read", ordersPage),
  get("/orders.csv", "read", ordersCsv),
  get("/orders/:order", "read", orderPage),
  post("/orders/:order/:kind", "order", askRequest, "/orders/:order"),
  get("/new-order", "order", chooseServicePage),
  get("/new-order/:service", "order", newOrderPage),
  post("/new-order/:service", "order", placeOrder, "/new-order/:service"),
  get("/new-orders", "order", severalOrdersPage),
  post("/new-orders", "order", placeOrders, "/new-orders"),
];
