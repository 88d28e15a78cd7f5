// Routes of this folder.

import { get, post, type Route } from "../server/route.ts";
import { decideLate } from "./late-reports.tsx";
import { changeOrder, endOrderEarly, noteOrder, progressOrder } from "./order-actions.tsx";
import { requestsPage } from "./order-requests.tsx";
import { decideRequest, decideRequests } from "./request-decisions.tsx";
import { correctLink, resendOrder } from "./order-resend.tsx";
import { settleOrder } from "./order-settlement.tsx";
import { orderPage } from "./order.tsx";
import { ordersCsv } from "./orders-csv.ts";
import { changeOrders } from "./order-changes.tsx";
import { ordersPage } from "./orders.tsx";
import { removeView, saveView } from "./saved-filters.tsx";

export const routes: readonly Route[] = [
  get("/orders", "support", ordersPage),
  get("/orders.csv", "support", ordersCsv),
  post("/save-view", "support", saveView, "/orders"),
  post("/remove-view", "support", removeView, "/orders"),
  post("/orders/change", "operator", changeOrders, "/orders"),
  get("/orders/:order", "support", orderPage),
  post("/orders/:order/change", "operator", changeOrder, "/orders/:order"),
  post("/orders/:order/partial", "operator", endOrderEarly, "/orders/:order"),
  post("/orders/:order/progress", "operator", progressOrder, "/orders/:order"),
  post("/orders/:order/settle", "operator", settleOrder, "/orders/:order"),
  post("/orders/:order/resend", "operator", resendOrder, "/orders/:order"),
  post("/orders/:order/link", "operator", correctLink, "/orders/:order"),
  post("/orders/:order/late", "operator", decideLate, "/orders/:order"),
  post("/orders/:order/note", "support", noteOrder, "/orders/:order"),
  get("/requests", "support", requestsPage),
  post("/requests/:request", "operator", decideRequest, "/requests"),
  post("/decide-requests", "operator", decideRequests, "/requests"),
];
