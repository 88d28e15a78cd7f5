// The OpenAPI descriptions of the balance and the transactions.

import { Refusal } from "../../domain/values/error-table.ts";
import { TRANSFER_KINDS } from "../../domain/ledger/ledger.ts";
import { CREATED_AT } from "../schemas/examples.ts";
import type { Operation } from "../schemas/operation.ts";
import { PAGE_PARAMETERS } from "./orders.ts";

const CREDIT = {
  seq: 1,
  kind: "adjustment",
  amount: 100,
  balanceAfter: 100,
  orderId: null,
  note: "quickstart",
  createdAt: CREATED_AT,
};

const CHARGE = {
  seq: 2,
  kind: "order",
  amount: -2.32,
  balanceAfter: 97.68,
  orderId: 1,
  note: null,
  createdAt: CREATED_AT,
};

export const getBalance: Operation = {
  id: "getBalance",
  tag: "Balance",
  summary: "Read your balance",
  description:
    "Returns the amount that you can spend on orders. Needs an Order Key or Full Access.",
  response: "Balance",
  examples: [
    {
      name: "balance",
      summary: "After the orders",
      response: { status: "success", balance: 96.743, currency: "USD" },
    },
  ],
  refusals: [],
};

export const listTransactions: Operation = {
  id: "listTransactions",
  tag: "Balance",
  summary: "Read your statement",
  description:
    "Returns every movement of your balance, newest first, straight from the ledger: the amounts add up to the balance to the last millionth of a dollar. With `Accept: text/csv` the whole statement comes as one CSV file, and `limit` is ignored. Needs an Order Key or Full Access.",
  parameters: [
    {
      name: "kind",
      in: "query",
      description: "Only movements of this kind.",
      schema: { type: "string", enum: TRANSFER_KINDS },
    },
    {
      name: "order",
      in: "query",
      description: "Only movements of the order with this number.",
      schema: { type: "integer", minimum: 1 },
    },
    ...PAGE_PARAMETERS,
  ],
  response: "Transactions",
  csv: {
    description: "A header line, then a line for each movement. RFC 4180.",
    example: `seq,kind,amount,balanceAfter,orderId,note,createdAt\r\n2,order,-2.32,97.68,1,,${CREATED_AT}\r\n1,adjustment,100,100,,quickstart,${CREATED_AT}\r\n`,
  },
  examples: [
    {
      name: "statement",
      summary: "Credits and debits by your operator",
      parameters: { kind: "adjustment" },
      response: { status: "success", transactions: [CREDIT], nextCursor: null },
    },
    {
      name: "order",
      summary: "What one order cost",
      parameters: { order: "1" },
      response: { status: "success", transactions: [CHARGE], nextCursor: null },
    },
    {
      name: "field_invalid",
      summary: "A cursor that this list did not return",
      parameters: { cursor: "nonsense" },
      response: new Refusal("field_invalid", {
        field: "cursor",
        must: "the nextCursor of an earlier answer",
      }),
    },
  ],
  refusals: [],
};
