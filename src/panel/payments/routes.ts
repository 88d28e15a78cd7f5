// Routes of this folder.

import type { Action } from "../server/call.ts";
import { type ActionRoute, get, post, type Route } from "../server/route.ts";
import { approve, paymentFile, paymentPage, reject, settle } from "./payment.tsx";
import { rotateSecret, storeSecrets } from "./method-secrets.tsx";
import { createMethod, newMethodPage } from "./new-payment-method.tsx";
import { methodPage, removeMethod, updateMethod } from "./payment-method.tsx";
import { settleSurplus } from "./payment-surpluses.tsx";
import { methodsPage, switchMethod } from "./payment-methods.tsx";
import { paymentsCsv, paymentsPage } from "./payments.tsx";

export const routes: readonly Route[] = [
  get("/payments", "support", paymentsPage),
  get("/payments.csv", "support", paymentsCsv),
  get("/payment-methods", "support", methodsPage),
  get("/payment-methods/:method", "support", methodPage),
  get("/new-payment-method", "owner", newMethodPage),
  post("/payment-methods", "owner", createMethod, "/new-payment-method"),
  methodRoute("", switchMethod),
  methodRoute("/terms", updateMethod),
  methodRoute("/secrets", storeSecrets),
  methodRoute("/rotate", rotateSecret),
  methodRoute("/remove", removeMethod),
  get("/payments/:payment", "support", paymentPage),
  get("/payments/:payment/file", "support", paymentFile),
  post("/payments/:payment/approve", "owner", approve, "/payments/:payment"),
  post("/payments/:payment/reject", "operator", reject, "/payments/:payment"),
  post("/payments/:payment/settle", "owner", settle, "/payments/:payment"),
  post("/payments/:payment/surplus", "owner", settleSurplus, "/payments/:payment"),
];

function methodRoute(path: string, action: Action): ActionRoute {
  const page = "/payment-methods/:method";
  return post(page + path, "owner", action, page);
}
