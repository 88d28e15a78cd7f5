// Routes of this folder.

import { get, type Route } from "../server/route.ts";
import { transactionsCsv, transactionsPage } from "./transactions.tsx";

export const routes: readonly Route[] = [
  get("/transactions", "support", transactionsPage),
  get("/transactions.csv", "support", transactionsCsv),
];
