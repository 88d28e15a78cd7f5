// Checks invariants by recomputing them row by row: JSON, and products and running sums that exceed 64 bits.

import { refundIn } from "../../domain/orders/order-statuses.ts";
import { extraProblem } from "../../domain/orders/order-fields.ts";
import { decideTransition } from "../../domain/orders/order-transitions.ts";
import { chargeMicros } from "../../domain/orders/charges.ts";
import type { OrderStatus } from "../../domain/orders/order-statuses.ts";
import type { PriceUnit } from "../../domain/catalogue/services.ts";
import { areSameEvents } from "../../domain/webhooks/webhook-events.ts";
import { findPortalSettings } from "../members/members.ts";
import { combineSubscriptions } from "../../domain/webhooks/webhooks.ts";
import { fields, query, select } from "../port/query.ts";
import { nullable, number, text } from "../port/table-definition.ts";
import { transfers } from "../tables/ledger.ts";
import { orders } from "../tables/orders.ts";
import { users } from "../tables/users.ts";
import { type Check, inPieces } from "./verify.ts";
import { COST_SCAN } from "./verify-costs.ts";
import { INVOICE_SCAN } from "./verify-invoices.ts";
import { listWebhooks } from "../webhooks/webhooks.ts";

const parameters = { after: number, limit: number };
const PIECE = 2000;
/** Number of stored responses read at once: fewer than PIECE, because a response may be that of a batch of orders. */
const RESPONSES_PIECE = 200;

const TERMS_FIELDS = [
  "orderId",
  "priceMicros",
  "per",
  "quantity",
  "chargeMicros",
  "refundedMicros",
  "status",
  "remains",
  "extra",
] as const;

const TERMS = query({
  parameters,
  columns: fields(orders, ...TERMS_FIELDS),
  text: `SELECT ${select(orders, ...TERMS_FIELDS)} FROM orders
    WHERE order_id > :after ORDER BY order_id LIMIT :limit`,
});

interface Terms {
  priceMicros: number;
  per: PriceUnit;
  quantity: number;
  chargeMicros: number;
  refundedMicros: number;
  status: OrderStatus;
  remains: number;
}

/** Recomputes charges and partial refunds from price, quantity and remains. */
const terms: Check = {
  name: "charges and refunds",
  async run(store, findings) {
    const read = (after: number) =>
      store.read((reader) => reader.all(TERMS, { after, limit: PIECE }));
    for await (const order of inPieces(read, ({ orderId }) => orderId)) {
      const subject = `order ${order.orderId}`;
      const charge = chargeMicros(order.priceMicros, order.per, order.quantity);
      if (charge !== order.chargeMicros) {
        const problem = `charge is ${order.chargeMicros} micros, but price and quantity give ${charge}`;
        findings.add(subject, problem, "charges follow from the price");
      }
      const refunded = refundOf(order);
      if (refunded !== order.refundedMicros) {
        const problem = `refunded is ${order.refundedMicros} micros, but ${order.status} gives ${refunded}`;
        findings.add(subject, problem, "refunds follow from the status");
      }
      const problem = extraProblem(order);
      if (problem !== null) findings.add(subject, problem, "quantities follow from the fields");
    }
  },
};

/** Returns the refund that the status of an order implies. */
function refundOf(order: Terms): number {
  switch (refundIn(order.status)) {
    case "everything":
      return order.chargeMicros;
    case "remains": {
      const before = { ...order, status: "PROCESSING" as const, refundedMicros: 0 };
      return decideTransition(before, order.status, order.remains).refundMicros;
    }
    case "nothing":
      return 0;
  }
}

const TRANSFER_FIELDS = [
  "seq",
  "debitAccount",
  "creditAccount",
  "amountMicros",
  "balanceAfterMicros",
] as const;

const TRANSFERS = query({
  parameters,
  columns: fields(transfers, ...TRANSFER_FIELDS),
  text: `SELECT ${select(transfers, ...TRANSFER_FIELDS)} FROM transfers
    WHERE seq > :after ORDER BY seq LIMIT :limit`,
});

/** Recomputes the balance that each transfer stores, in one pass with one number for each user in memory. */
const statements: Check = {
  name: "statements add up",
  async run(store, findings) {
    const balances = new Map<number, bigint>();
    const read = (after: number) =>
      store.read((reader) => reader.all(TRANSFERS, { after, limit: PIECE }));
    for await (const transfer of inPieces(read, ({ seq }) => seq)) {
      const {
        seq,
        debitAccount,
        creditAccount,
        amountMicros,
        balanceAfterMicros: after,
      } = transfer;
      const account = Math.max(debitAccount, creditAccount);
      const change = BigInt(account === creditAccount ? amountMicros : -amountMicros);
      const total = (balances.get(account) ?? 0n) + change;
      // Later transfers are compared with the stored balance, so that one wrong balance is reported only once.
      balances.set(account, after);
      if (total === after) continue;
      const problem = `the balance after it is ${after} micros, but the transfers up to it add up to ${total}`;
      findings.add(`transfer ${seq}`, problem);
    }
  },
};

const RESPONSES = query({
  parameters,
  columns: {
    seq: number,
    orderId: nullable(number),
    results: nullable(text),
    amountMicros: nullable(number),
    body: text,
  },
  text: `SELECT idempotency.seq AS seq, idempotency.order_id AS "orderId",
      results, amount_micros AS "amountMicros", response_body AS body
    FROM idempotency LEFT JOIN transfers ON transfers.seq = transfer_seq
    WHERE response_body IS NOT NULL AND idempotency.seq > :after
    ORDER BY idempotency.seq LIMIT :limit`,
});

/** Compares each stored response with the order or recharge that its request made. */
const responses: Check = {
  name: "a stored response matches what was done",
  async run(store, findings) {
    const read = (after: number) =>
      store.read((reader) => reader.all(RESPONSES, { after, limit: RESPONSES_PIECE }));
    for await (const { seq, orderId, results, amountMicros, body } of inPieces(
      read,
      (row) => row.seq,
    )) {
      const done = orderId ?? amountMicros;
      const recorded = orderId === null ? amountIn(body) : orderIn(body, results, orderId);
      if (recorded === done) continue;
      findings.add(
        `used key ${seq}`,
        `its response describes ${recorded ?? "nothing"}, but what was done is ${done}`,
      );
    }
  },
};

interface ResponseBody {
  amount?: unknown;
  order?: { orderId?: unknown } | null;
  request?: { orderId?: unknown } | null;
  results?: unknown;
}

function amountIn(body: string): number | null {
  const amount = parse(body)?.amount;
  return typeof amount === "number" ? Math.round(amount * 1e6) : null;
}

/**
 * Returns the order in a response. For the response to a batch, looks for the order `orderId`.
 */
function orderIn(body: string, results: string | null, orderId: number): number | null {
  const response = parse(body);
  if (results?.startsWith("{")) return numberOf(response?.request?.orderId);
  const isBatch = results !== null;
  const entries = isBatch && Array.isArray(response?.results) ? response.results : [];
  const recorded = isBatch
    ? (entries as (ResponseBody | null)[]).find((entry) => entry?.order?.orderId === orderId)
    : response;
  return numberOf(recorded?.order?.orderId);
}

function numberOf(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}

function parse(body: string): ResponseBody | null {
  try {
    return JSON.parse(body) as ResponseBody | null;
  } catch {
    return null;
  }
}

const WANTING = query({
  parameters,
  columns: fields(users, "account", "username", "wantedEvents", "lowBalanceMicros"),
  text: `SELECT ${select(users, "account", "username", "wantedEvents", "lowBalanceMicros")} FROM users
    WHERE account > :after AND (wanted_events <> 0 OR low_balance_micros IS NOT NULL
      OR EXISTS (SELECT 1 FROM webhooks WHERE reseller_account = users.account AND deleted_at IS NULL)
      OR EXISTS (SELECT 1 FROM portal_settings
        WHERE portal_settings.account = users.account AND portal_settings.low_balance_micros IS NOT NULL))
    ORDER BY account LIMIT :limit`,
});

/** Checks each user's copy of the events that its webhooks and members want. The copy decides whether an event is written. */
const wanted: Check = {
  name: "users record what their webhooks subscribe to",
  async run(store, findings) {
    const read = (after: number) =>
      store.read((reader) => reader.all(WANTING, { after, limit: PIECE }));
    for await (const user of inPieces(read, ({ account }) => account)) {
      const { webhooks, threshold } = await store.read((reader) => ({
        webhooks: listWebhooks(reader, user.account),
        threshold: findPortalSettings(reader, user.account).lowBalanceMicros,
      }));
      const { wantedEvents, lowBalanceMicros } = combineSubscriptions(webhooks, threshold);
      if (
        areSameEvents(user.wantedEvents, wantedEvents) &&
        user.lowBalanceMicros === lowBalanceMicros
      )
        continue;
      findings.add(
        `user ${user.username}`,
        `recorded: events ${user.wantedEvents}, balance below ${user.lowBalanceMicros} micros; its webhooks: events ${wantedEvents}, balance below ${lowBalanceMicros}`,
      );
    }
  },
};

export const SCAN_CHECKS: readonly Check[] = [
  responses,
  terms,
  statements,
  COST_SCAN,
  INVOICE_SCAN,
  wanted,
];
