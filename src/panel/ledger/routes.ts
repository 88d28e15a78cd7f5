// Routes of this folder.

import { get, post, type Route } from "../server/route.ts";
import { correctInvoice, invoicePage } from "./invoice.tsx";
import { setInvoicing } from "./invoice-settings.tsx";
import { invoicesCsv, invoicesPage } from "./invoices.tsx";
import { moneyCsv, moneyPage } from "./money.tsx";
import { transactionsCsv, transactionsPage } from "./transactions.tsx";

export const routes: readonly Route[] = [
  get("/reports/money", "support", moneyPage),
  get("/reports/money.csv", "support", moneyCsv),
  get("/transactions", "support", transactionsPage),
  get("/transactions.csv", "support", transactionsCsv),
  get("/invoices", "support", invoicesPage),
  get("/invoices.csv", "support", invoicesCsv),
  get("/invoices/:invoice", "support", invoicePage),
  post("/invoices/:invoice/correct", "owner", correctInvoice, "/invoices/:invoice"),
  post("/invoicing", "owner", setInvoicing, "/invoices"),
];
