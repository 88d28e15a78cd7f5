// Routes of this folder.

import { get, type Route } from "../server/route.ts";
import { balancePage, transactionsCsv } from "./balance.tsx";
import { invoicePage, invoicesPage } from "./invoices.tsx";
import { statementPage } from "./month.tsx";

export const routes: readonly Route[] = [
  get("/balance", "read", balancePage),
  get("/balance.csv", "read", transactionsCsv),
  get("/balance/:month", "read", statementPage),
  get("/invoices", "read", invoicesPage),
  get("/invoices/:invoice", "read", invoicePage),
];
