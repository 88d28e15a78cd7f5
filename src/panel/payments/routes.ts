// Routes of this folder.

import { get, post, type Route } from "../server/route.ts";
import { approve, paymentFile, paymentPage, reject, settle } from "./payment.tsx";
import { methodPage, updateMethod } from "./payment-method.tsx";
import { methodsPage, switchMethod } from "./payment-methods.tsx";
import { paymentsCsv, paymentsPage } from "./payments.tsx";

export const routes: readonly Route[] = [
  get("/payments", "support", paymentsPage),
  get("/payments.csv", "support", paymentsCsv),
  get("/payment-methods", "support", methodsPage),
  get("/payment-methods/:method", "support", methodPage),
  post("/payment-methods/:method/terms", "owner", updateMethod, "/payment-methods/:method"),
  post("/payment-methods/:method", "owner", switchMethod, "/payment-methods"),
  get("/payments/:payment", "support", paymentPage),
  get("/payments/:payment/file", "support", paymentFile),
  post("/payments/:payment/approve", "owner", approve, "/payments/:payment"),
  post("/payments/:payment/reject", "operator", reject, "/payments/:payment"),
  post("/payments/:payment/settle", "owner", settle, "/payments/:payment"),
];
