// What needs the operator's attention, read by index searches alone: it costs the same at ten million orders.

import type { Reader } from "./port.ts";
import { SANDBOX_PROVIDER } from "../domain/sandbox.ts";
import { NO_TEST_ORDER } from "./orders.ts";
import { countOpenRequests, type RequestFigures } from "./order-request-lists.ts";
import { query } from "./query.ts";
import { delistedRoutesOf } from "./route-listing.ts";
import { boolean, nullable, number, text } from "./table-definition.ts";
import { listUnrecognized, type UnrecognizedOrder } from "./unrecognized-numbers.ts";
import { type FailedWebhooks, listFailedWebhooks } from "./webhook-figures.ts";

/** Late reports that are counted: those of the newest orders. */
const LATE_REPORTS_LIMIT = 10_000;
const UNRECOGNIZED_LIMIT = 100;

export interface ProviderAttention {
  name: string;
  /** Whether it is given orders. */
  active: boolean;
  /** The threshold of our balance, and the balance as it was last asked for, in its currency; null: none, never. */
  lowBalanceMicros: number | null;
  balanceMicros: number | null;
  balanceCurrency: string | null;
  /** Since when it refuses orders for lack of funds. */
  outOfFundsAt: number | null;
  /** What it charged in although its rate to USD is not known; null: nothing. */
  foreignCurrency: string | null;
  lastSuccessAt: number | null;
  /** PENDING orders whose placement is unknown. */
  unknown: number;
  /** When the provider last answered for the open order that it has not answered for the longest. */
  oldestUncheckedAt: number | null;
  /** When the most overdue submission and poll were due; in the future if none is overdue. */
  submissionDueAt: number | null;
  pollDueAt: number | null;
  /** Why its last scheduled sync was not applied. */
  syncHeld: string | null;
  /** Services that it does not list any more and that others deliver. */
  delistedRoutes: number;
}

export interface Attention {
  providers: ProviderAttention[];
  /** Open orders whose providers do not know the numbers that they have. */
  unrecognized: UnrecognizedOrder[];
  /** Orders of which a provider reported a change after their end that nobody has decided. */
  lateOrders: number;
  /** Users whose webhooks were disabled because they failed, with how many. */
  failedWebhooks: FailedWebhooks[];
  /** Open requests for orders. */
  requests: RequestFigures;
  /** The latest time of a transfer, order or user; null without one. */
  lastRowAt: number | null;
}

// The conditions repeat those of the partial indexes orders_open_by_provider, orders_queued, orders_followed and of delisted routes.
const OPEN = "provider_id = providers.provider_id AND status IN ('PENDING', 'PROCESSING')";
const PROVIDERS = query({
  gives: {
    name: text,
    active: boolean,
    lowBalanceMicros: nullable(number),
    balanceMicros: nullable(number),
    balanceCurrency: nullable(text),
    outOfFundsAt: nullable(number),
    foreignCurrency: nullable(text),
    lastSuccessAt: nullable(number),
    unknown: number,
    oldestUncheckedAt: nullable(number),
    submissionDueAt: nullable(number),
    pollDueAt: nullable(number),
    syncHeld: nullable(text),
    delistedRoutes: number,
  },
  text: `SELECT name, active, low_balance_micros AS "lowBalanceMicros", balance_micros AS "balanceMicros",
      balance_currency AS "balanceCurrency", out_of_funds_at AS "outOfFundsAt", foreign_currency AS "foreignCurrency",
      last_success_at AS "lastSuccessAt", sync_held AS "syncHeld",
      (SELECT count(*) FROM orders WHERE ${OPEN} AND placement = 'unknown') AS "unknown",
      (SELECT min(checked_at) FROM orders WHERE ${OPEN} AND placement = 'placed') AS "oldestUncheckedAt",
      (SELECT min(next_place_at) FROM orders WHERE provider_id = providers.provider_id
        AND placement = 'queued' AND status = 'PENDING') AS "submissionDueAt",
      (SELECT min(next_check_at) FROM orders WHERE provider_id = providers.provider_id
        AND next_check_at IS NOT NULL) AS "pollDueAt",
      ${delistedRoutesOf("providers.provider_id")} AS "delistedRoutes"
    FROM providers WHERE providers.provider_id <> ${SANDBOX_PROVIDER}
    ORDER BY providers.name COLLATE "binary"`,
});

const FACTS = query({
  gives: {
    lateOrders: number,
    lastTransferAt: nullable(number),
    lastOrderAt: nullable(number),
    lastUserAt: nullable(number),
  },
  text: `SELECT
    (SELECT count(DISTINCT newest.order_id) FROM (
        SELECT order_id FROM late_reports WHERE decision IS NULL
        ORDER BY order_id DESC LIMIT ${LATE_REPORTS_LIMIT}
      ) AS newest JOIN orders ON orders.order_id = newest.order_id
      WHERE ${NO_TEST_ORDER}) AS "lateOrders",
    (SELECT created_at FROM transfers ORDER BY seq DESC LIMIT 1) AS "lastTransferAt",
    (SELECT created_at FROM orders ORDER BY order_id DESC LIMIT 1) AS "lastOrderAt",
    (SELECT created_at FROM users ORDER BY account DESC LIMIT 1) AS "lastUserAt"`,
});

/** By name; without the sandbox. */
export function listProviderAttention(reader: Reader): ProviderAttention[] {
  return reader.all(PROVIDERS);
}

export function readAttention(reader: Reader): Attention {
  const providers = listProviderAttention(reader);
  const { lateOrders, ...times } = reader.one(FACTS)!;
  const lastRowAt = Math.max(0, ...Object.values(times).map((time) => time ?? 0)) || null;
  const unrecognized = listUnrecognized(reader, UNRECOGNIZED_LIMIT);
  const failedWebhooks = listFailedWebhooks(reader);
  const requests = countOpenRequests(reader);
  return { providers, unrecognized, lateOrders, failedWebhooks, requests, lastRowAt };
}
