// Routes of this folder.

import { get, post, type Route } from "../server/route.ts";
import { addFunds, addFundsPage } from "./add-funds.tsx";
import { beginAgain, claim, paymentPage } from "./payment.tsx";
import { paymentsPage } from "./payments.tsx";

export const routes: readonly Route[] = [
  get("/add-funds", "order", addFundsPage),
  post("/add-funds", "order", addFunds, "/add-funds"),
  get("/payments", "read", paymentsPage),
  get("/payments/:payment", "read", paymentPage),
  post("/payments/:payment/claim", "order", claim, "/payments/:payment"),
  post("/payments/:payment/begin", "order", beginAgain, "/payments/:payment"),
];
