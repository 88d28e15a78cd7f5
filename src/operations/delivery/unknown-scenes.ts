// Reads what is known here about a provider's unknown orders and the orders that were sent to it around them.
// docs/specification/delivery.md#delivery-search.

import type { DeliveryScene } from "../../domain/delivery/unknown-matches.ts";
import { costByRate } from "../../domain/delivery/costs.ts";
import { RESTORED_CAUSE } from "../../domain/delivery/deliveries.ts";
import type { BalancesAround } from "../../domain/delivery/balance-evidence.ts";
import {
  LATE_ARRIVAL_MS,
  type NumberedOrder,
  type RivalOrder,
  type SoughtOrder,
} from "../../domain/delivery/number-ranges.ts";
import { findRate } from "../../db/delivery/costs.ts";
import {
  listOrdersNumbered,
  listSentOrders,
  listUnknownOrders,
  type SentOrder,
} from "../../db/delivery/sent-orders.ts";
import type { Reader, ReadStore } from "../../db/port/port.ts";
import { findBalanceAfter, findBalanceBefore } from "../../db/providers/provider-balances.ts";
import { listProviders, type Provider } from "../../db/providers/providers.ts";

/** Limit for the unknown orders of one search. */
export const SEARCHED_LIMIT = 500;
/** How many attempts before and after an unknown one are examined, over all providers. */
const ATTEMPTS_BEFORE = 5000;
const ATTEMPTS_AFTER = 20_000;
/** Limit for the attempts of one read. */
const ATTEMPTS_LIMIT = 100_000;

/**
 * Reads the scene in several short reads. `known`: numbers that the provider knows; the scene names our orders with
 * them.
 */
export async function readDeliveryScene(
  store: ReadStore,
  provider: Provider,
  known: readonly string[],
): Promise<DeliveryScene> {
  const { providerId, rateToUsd, currency } = provider;
  const { listed, twins } = await store.read((reader) => ({
    listed: listUnknownOrders(reader, providerId, SEARCHED_LIMIT),
    twins: listTwins(reader, provider),
  }));
  const atHost = twins.map((each) => each.providerId);
  // If this account does not know an order's number, the order is at another account of the host.
  const atAccount = new Set(
    twins.filter(({ key }) => key === provider.key).map((each) => each.providerId),
  );
  const sent = new Map<number, SentOrder>();
  for (const { first, last } of spansAround(listed)) {
    const found = await store.read((reader) => listSentOrders(reader, atHost, first, last));
    for (const each of found) sent.set(each.attemptId, each);
  }
  const restoredAt = lastRestore([...listed, ...sent.values()]);
  return store.read((reader) => {
    const sought = (order: SentOrder) => soughtOf(reader, order, restoredAt);
    const unknown = new Set(listed.map(({ attemptId }) => attemptId));
    const others = [...sent.values()].filter(({ attemptId }) => !unknown.has(attemptId));
    const rivals = others.filter(({ providerOrder }) => providerOrder === null);
    return {
      unknown: reader.each(listed, sought),
      rivals: reader.each(rivals, (order): RivalOrder => {
        return { ...sought(order), state: stateOf(order) };
      }),
      numbered: others.filter((each) => atAccount.has(each.providerId)).flatMap(numberedOf),
      taken: new Map(
        listOrdersNumbered(reader, atHost, known).map((each) => [each.providerOrder, each]),
      ),
      currency: { rateToUsd, currency },
      balances: balancesAround(reader, providerId, listed),
    };
  });
}

/** Returns the last balance before all unknown orders, and the first after all could have arrived. */
function balancesAround(
  reader: Reader,
  providerId: number,
  unknown: readonly SentOrder[],
): BalancesAround {
  if (unknown.length === 0) return { before: null, after: null };
  const first = Math.min(...unknown.map(({ startedAt }) => startedAt));
  const last = Math.max(...unknown.map(({ finishedAt }) => finishedAt!));
  return {
    before: findBalanceBefore(reader, providerId, first),
    after: findBalanceAfter(reader, providerId, last + LATE_ARRIVAL_MS),
  };
}

/** Returns ranges of attempts around the unknown ones, joined where they overlap, up to ATTEMPTS_LIMIT. */
function spansAround(unknown: readonly SentOrder[]): { first: number; last: number }[] {
  const spans: { first: number; last: number }[] = [];
  for (const { attemptId } of unknown) {
    const [first, last] = [attemptId - ATTEMPTS_BEFORE, attemptId + ATTEMPTS_AFTER];
    const before = spans.at(-1);
    const joins = before && first <= before.last && last - before.first <= ATTEMPTS_LIMIT;
    if (joins) before.last = last;
    else spans.push({ first, last });
  }
  return spans;
}

/**
 * Returns the providers that may be the same account: those at the same host, with this one. Two entries with the same
 * account share its order numbers.
 */
function listTwins(reader: Reader, provider: Provider): Provider[] {
  const { host } = new URL(provider.url);
  return listProviders(reader).filter(({ url }) => new URL(url).host === host);
}

/** Returns when the database was last restored with one of the orders in it; -Infinity: it was not. */
function lastRestore(sent: readonly SentOrder[]): number {
  const restored = sent.filter(({ cause }) => cause === RESTORED_CAUSE);
  return restored.reduce((last, { finishedAt }) => Math.max(last, finishedAt!), -Infinity);
}

function soughtOf(reader: Reader, order: SentOrder, restoredAt: number): SoughtOrder {
  const { attemptId, orderId, providerId, providerService, quantity } = order;
  const { per, extra, startedAt, finishedAt, createdAt } = order;
  const rate = findRate(reader, providerId, providerService, orderId);
  const isRestored = startedAt <= restoredAt;
  return {
    orderId,
    attemptId,
    providerService,
    quantity,
    sentFrom: isRestored ? createdAt : startedAt,
    sentUntil: finishedAt ?? Number.MAX_SAFE_INTEGER,
    expected: rate ? costByRate(rate, quantity, "PROCESSING", null) : null,
    hasPlainCount: per !== "order" && extra === null,
    isRestored,
  };
}

function stateOf({ outcome, status, placement }: SentOrder): string {
  if (outcome === "sending") return "is being sent";
  if (placement === "unknown" && status === "PENDING") return "is unknown too";
  return placement === "refused" ? "was settled as not placed" : `is ${status}`;
}

/** Returns the order if its number came with the provider's answer, so that the time of the number is known. */
function numberedOf({ outcome, providerOrder, finishedAt, ...order }: SentOrder): NumberedOrder[] {
  if (outcome !== "accepted" || providerOrder === null || finishedAt === null) return [];
  const { orderId, attemptId, providerService, quantity, startedAt } = order;
  const number = BigInt(providerOrder);
  return [{ orderId, attemptId, number, providerService, quantity, startedAt, finishedAt }];
}
