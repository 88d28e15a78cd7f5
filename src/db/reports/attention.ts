// Reads what needs the operator's attention. Uses only index searches, so it costs the same at ten million orders.

import { OPEN_ORDER_CONDITION } from "../orders/order-statuses.ts";
import type { Reader } from "../port/port.ts";
import type { PausedBy } from "../../domain/providers/provider-pauses.ts";
import type { ProviderFacts } from "../../domain/alerts/conditions.ts";
import { SANDBOX_PROVIDER } from "../../domain/orders/sandbox.ts";
import { LIVE_ORDER_CONDITION } from "../orders/orders.ts";
import { countWaiting } from "../members/registrations.ts";
import { countOpenRequests, type RequestFigures } from "../orders/order-request-lists.ts";
import { expectedCurrency } from "../../domain/delivery/costs.ts";
import { readHeldOrders } from "../delivery/held-orders.ts";
import type { MailFacts } from "../../domain/alerts/mail-conditions.ts";
import type { PaymentFacts, SurplusFacts } from "../../domain/alerts/payment-conditions.ts";
import type { SpendFacts } from "../../domain/alerts/spend-conditions.ts";
import { readMailFacts } from "../mails/mails.ts";
import { listSurplusFacts } from "../payments/payment-surpluses.ts";
import { readPaymentFacts } from "../payments/payments.ts";
import { listSpenders } from "./hourly-spend.ts";
import { query } from "../port/query.ts";
import { LAST_ROW_COLUMNS, LAST_ROW_TIMES, lastRowAt } from "./last-row.ts";
import { delistedRoutesOf } from "../catalogue/route-listing.ts";
import { boolean, nullable, number, text, textOf } from "../port/table-definition.ts";
import { listUnrecognized, type UnrecognizedOrder } from "../delivery/unrecognized-numbers.ts";
import { type FailedWebhooks, listFailedWebhooks } from "../webhooks/webhook-figures.ts";

/** Limit for the counted late reports, those of the newest orders. */
const LATE_REPORTS_LIMIT = 10_000;
const UNRECOGNIZED_LIMIT = 100;

export interface Attention {
  providers: ProviderFacts[];
  /** Open orders whose number their provider does not recognize. */
  unrecognized: UnrecognizedOrder[];
  /** Orders with an undecided late report. */
  lateOrders: number;
  /** Users with webhooks that fail, or were disabled because they failed, with counts. */
  failedWebhooks: FailedWebhooks[];
  /** Counts of open requests for orders. */
  requests: RequestFigures;
  /** Visitors of the portal who asked for an account. */
  registrations: number;
  /** Resellers whose spend of the running hour is judged. */
  spenders: SpendFacts[];
  payments: PaymentFacts;
  surpluses: SurplusFacts[];
  mails: MailFacts;
  /** The latest creation time of a transfer, order or user; null if there is none. */
  lastRowAt: number | null;
}

// The conditions repeat those of the partial indexes orders_open_by_provider, orders_queued, orders_polled and the
// indexes of delisted routes, so that they are used.
const OPEN = `provider_id = providers.provider_id AND ${OPEN_ORDER_CONDITION}`;
const PROVIDERS = query({
  columns: {
    providerId: number,
    name: text,
    currency: nullable(text),
    rateToUsd: text,
    active: boolean,
    lowBalanceMicros: nullable(number),
    balanceMicros: nullable(number),
    balanceCurrency: nullable(text),
    outOfFundsAt: nullable(number),
    foreignCurrency: nullable(text),
    pausedAt: nullable(number),
    pausedBy: nullable(textOf<PausedBy>()),
    pausedUntil: nullable(number),
    unknown: number,
    submissionDueAt: nullable(number),
    pollDueAt: nullable(number),
    syncHeld: nullable(text),
    delistedRoutes: number,
  },
  text: `SELECT provider_id AS "providerId", name, currency, rate_to_usd AS "rateToUsd", active, low_balance_micros AS "lowBalanceMicros", balance_micros AS "balanceMicros",
      balance_currency AS "balanceCurrency", out_of_funds_at AS "outOfFundsAt", foreign_currency AS "foreignCurrency",
      sync_held AS "syncHeld", paused_at AS "pausedAt", paused_by AS "pausedBy",
      paused_until AS "pausedUntil",
      (SELECT count(*) FROM orders WHERE ${OPEN} AND placement = 'unknown') AS "unknown",
      (SELECT min(next_submit_at) FROM orders WHERE provider_id = providers.provider_id
        AND placement = 'queued' AND status = 'PENDING') AS "submissionDueAt",
      (SELECT min(next_poll_at) FROM orders WHERE provider_id = providers.provider_id
        AND next_poll_at IS NOT NULL) AS "pollDueAt",
      ${delistedRoutesOf("providers.provider_id")} AS "delistedRoutes"
    FROM providers WHERE providers.provider_id <> ${SANDBOX_PROVIDER}
    ORDER BY providers.name COLLATE "binary"`,
});

const FACTS = query({
  columns: {
    lateOrders: number,
    ...LAST_ROW_COLUMNS,
  },
  text: `SELECT
    (SELECT count(DISTINCT newest.order_id) FROM (
        SELECT order_id FROM late_reports WHERE decision IS NULL
        ORDER BY order_id DESC LIMIT ${LATE_REPORTS_LIMIT}
      ) AS newest JOIN orders ON orders.order_id = newest.order_id
      WHERE ${LIVE_ORDER_CONDITION}) AS "lateOrders",
    ${LAST_ROW_TIMES}`,
});

/**
 * Lists all providers by name, without the sandbox. Leaves out `uncountedCosts`, which takes more than index searches.
 * For a provider that lacks funds it counts the waiting orders, whose number the limit of a hold bounds.
 */
export function listProviderAttention(reader: Reader): ProviderFacts[] {
  return reader.all(PROVIDERS).map(({ providerId, currency, rateToUsd, ...facts }) => {
    if (facts.pausedBy !== "funds") return { ...facts, held: null };
    const held = readHeldOrders(reader, providerId);
    return { ...facts, held: { ...held, currency: expectedCurrency({ currency, rateToUsd }) } };
  });
}

export function readAttention(reader: Reader, now: number): Attention {
  const providers = listProviderAttention(reader);
  const { lateOrders, ...times } = reader.one(FACTS)!;
  const unrecognized = listUnrecognized(reader, UNRECOGNIZED_LIMIT);
  const failedWebhooks = listFailedWebhooks(reader);
  const requests = countOpenRequests(reader);
  return {
    providers,
    unrecognized,
    lateOrders,
    failedWebhooks,
    requests,
    registrations: countWaiting(reader),
    spenders: listSpenders(reader, now),
    payments: readPaymentFacts(reader),
    surpluses: listSurplusFacts(reader),
    mails: readMailFacts(reader, now),
    lastRowAt: lastRowAt(times),
  };
}
