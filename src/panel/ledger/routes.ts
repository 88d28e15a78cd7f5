// Routes of this folder.

import { get, type Route } from "../server/route.ts";
import { moneyCsv, moneyPage } from "./money.tsx";
import { transactionsCsv, transactionsPage } from "./transactions.tsx";

export const routes: readonly Route[] = [
  get("/reports/money", "support", moneyPage),
  get("/reports/money.csv", "support", moneyCsv),
  get("/transactions", "support", transactionsPage),
  get("/transactions.csv", "support", transactionsCsv),
];
