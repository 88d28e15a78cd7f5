// Output of the provider commands: a provider with what needs attention.

import { countForeignCosts } from "../../db/delivery/costs.ts";
import { countLate } from "../../db/orders/late-reports.ts";
import { oldestDuePoll } from "../../db/delivery/polling.ts";
import { countDelistedRoutes } from "../../db/catalogue/route-listing.ts";
import type { Reader } from "../../db/port/port.ts";
import { type Provider, readProviderOrders } from "../../db/providers/providers.ts";
import { listUnrecognizedNumbers } from "../../db/delivery/unrecognized-numbers.ts";
import { lowBalance } from "../../domain/webhooks/alerts.ts";
import { expectedCurrency } from "../../domain/delivery/costs.ts";
import { jsonAmount } from "../../domain/ledger/money.ts";
import { counted } from "../../domain/values/text.ts";
import { formatDuration } from "../../domain/values/units.ts";
import type { Row } from "../output/text-table.ts";

/** A poll overdue by this long counts as late, regardless of the running server's poll interval. */
const LATE_MS = 5 * 60_000;

/** Limit for unrecognized order numbers that are named. */
const UNRECOGNIZED_SHOWN = 5;

interface ProviderStatus extends Provider {
  open: number;
  unknown: number;
  oldestUncheckedAt: number | null;
  /** Sentences about what needs the operator's attention. */
  attention: string[];
}

export function statusOf(reader: Reader, provider: Provider, now: number): ProviderStatus {
  const orders = readProviderOrders(reader, provider.providerId);
  const { outOfFundsAt } = provider;
  const due = oldestDuePoll(reader, provider.providerId);
  const late = countLate(reader, provider.providerId);
  const attention: string[] = [];
  if (orders.unknown > 0) {
    attention.push(`${counted(orders.unknown, "order")} unknown, see \`order settle\``);
  }
  const unrecognized = listUnrecognizedNumbers(reader, provider.providerId, UNRECOGNIZED_SHOWN);
  for (const { orderId, providerOrder } of unrecognized) {
    attention.push(
      `does not know ${providerOrder} of order ${orderId}, correct it with \`order settle --placed\``,
    );
  }
  const { pausedAt, pausedBy, name } = provider;
  if (pausedAt !== null) {
    const why = pausedBy === "operator" ? "by hand" : "after unknown outcomes";
    attention.push(
      `submissions paused ${why} since ${isoOf(pausedAt)}, see \`provider resume ${name}\``,
    );
  }
  if (outOfFundsAt !== null) attention.push(`out of funds since ${isoOf(outOfFundsAt)}`);
  if (due !== null && now - due > LATE_MS) {
    attention.push(`looking at orders is late since ${isoOf(due)}`);
  }
  const { syncHeld } = provider;
  if (syncHeld !== null) {
    attention.push(`scheduled sync not applied: ${syncHeld}, see \`provider sync\``);
  }
  const uncounted = countForeignCosts(reader).get(provider.providerId) ?? 0;
  if (uncounted > 0) {
    attention.push(
      `costs of ${counted(uncounted, "order")} are not counted: it charged in ${provider.foreignCurrency ?? "another currency"}, see \`provider update --rate-to-usd\``,
    );
  }
  if (late > 0) {
    attention.push(
      `${counted(late, "order")} changed after ${late === 1 ? "its" : "their"} end, see \`order list --late\`, then \`order late\` each`,
    );
  }
  const delisted = countDelistedRoutes(reader, provider.providerId);
  if (delisted > 0) {
    attention.push(
      `does not list ${counted(delisted, "service")} any more that others deliver, see \`service route ID list\``,
    );
  }
  const low = lowBalance(provider);
  if (low !== null) attention.push(low);
  return { ...provider, ...orders, attention };
}

/** Returns the members for --json, without the key. */
export function providerJson(provider: ProviderStatus) {
  return {
    name: provider.name,
    url: provider.url,
    open: provider.open,
    unknown: provider.unknown,
    lastSuccessAt: isoOf(provider.lastSuccessAt),
    oldestUncheckedAt: isoOf(provider.oldestUncheckedAt),
    ...(provider.lowBalanceMicros !== null && {
      lowBalance: jsonAmount(provider.lowBalanceMicros),
      lastBalance: provider.balanceMicros === null ? null : jsonAmount(provider.balanceMicros),
      lastBalanceAt: isoOf(provider.balanceAt),
    }),
    rateToUsd: provider.rateToUsd,
    currency: expectedCurrency(provider),
    active: provider.active,
    pausedAt: isoOf(provider.pausedAt),
    pausedBy: provider.pausedBy,
    markup: provider.markup === null ? null : Number(provider.markup),
    syncEvery: provider.syncEvery === null ? null : formatDuration(provider.syncEvery),
    syncMaxPriceChange: Number(provider.syncPriceLimit),
    syncMaxDeactivated: provider.syncDeactivationLimit,
    syncNew: provider.syncNew,
    readableIds: provider.readableIds,
    syncedAt: isoOf(provider.syncedAt),
    syncHeld: provider.syncHeld,
    attention: provider.attention,
  };
}

type ProviderJson = ReturnType<typeof providerJson>;

/** Returns the part of a provider that a table shows. */
export function rowOf(provider: ProviderJson): Row {
  const { name, url, open, unknown, lastSuccessAt, oldestUncheckedAt, active } = provider;
  const shown = {
    name,
    active,
    paused: provider.pausedBy ?? "no",
    open,
    unknown,
    lastSuccessAt,
    oldestUncheckedAt,
    url,
  };
  return { ...shown, ...syncFacts(provider) };
}

/** Returns all of a provider for a person. */
export function factsOf(provider: ProviderJson): Row {
  const { rateToUsd, currency, attention } = provider;
  const { lowBalance, lastBalance = null, lastBalanceAt = null } = provider;
  const low: Row = lowBalance === undefined ? {} : { lowBalance, lastBalance, lastBalanceAt };
  return {
    ...rowOf(provider),
    currency,
    rateToUsd,
    ...low,
    attention: attention.join("; "),
  };
}

/**
 * Returns the settings of scheduled syncs, if any, and when a sync last read the list. The list may have been read
 * without being applied.
 */
function syncFacts(provider: ProviderJson): Row {
  const { markup, syncEvery, syncMaxPriceChange, syncMaxDeactivated, syncNew } = provider;
  const { readableIds, syncedAt, syncHeld } = provider;
  const at = syncedAt?.replace(/\.\d{3}Z$/, "Z");
  const limits = `, at most ${syncMaxPriceChange}% and ${syncMaxDeactivated} deactivated`;
  const ids = readableIds ? ", readable ids" : "";
  return {
    lastSync: syncHeld === null || at === undefined ? syncedAt : `${at}, not applied`,
    markup: markup === null ? null : `${markup}%`,
    sync: syncEvery === null ? null : `every ${syncEvery}${limits}`,
    newServices: `${syncNew}${ids}`,
  };
}

function isoOf(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}
