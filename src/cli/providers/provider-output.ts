// Output of the provider commands: a provider with what needs attention.

import { countForeignCosts } from "../../db/delivery/costs.ts";
import { countLate } from "../../db/orders/late-reports.ts";
import { listProviderAttention } from "../../db/reports/attention.ts";
import type { Reader } from "../../db/port/port.ts";
import { type Provider, readProviderOrders } from "../../db/providers/providers.ts";
import { listUnrecognizedNumbers } from "../../db/delivery/unrecognized-numbers.ts";
import { conditionsOf, sentenceOf } from "../../domain/alerts/conditions.ts";
import {
  LATE_REPORT_RULES,
  NUMBER_RULES,
  PROVIDER_RULES,
} from "../../domain/alerts/provider-conditions.ts";
import { readCategoryMarkups } from "../../domain/providers/pricing.ts";
import { expectedCurrency } from "../../domain/delivery/costs.ts";
import { jsonAmount } from "../../domain/ledger/money.ts";
import { formatDuration } from "../../domain/values/units.ts";
import { isoTime } from "../output/output.ts";
import type { Row } from "../output/text-table.ts";

/** Limit for unrecognized order numbers that are read. */
const UNRECOGNIZED_LIMIT = 100;

interface ProviderStatus extends Provider {
  open: number;
  unknown: number;
  oldestUncheckedAt: number | null;
  /** Sentences about what needs the operator's attention. */
  attention: string[];
}

/** Returns the providers with what needs attention. */
export function statusesOf(
  reader: Reader,
  providers: readonly Provider[],
  now: number,
): ProviderStatus[] {
  const facts = new Map(listProviderAttention(reader).map((each) => [each.name, each]));
  const uncounted = countForeignCosts(reader);
  return reader.each(providers, (provider) => {
    const { providerId, name } = provider;
    const orders = readProviderOrders(reader, providerId);
    const numbers = listUnrecognizedNumbers(reader, providerId, UNRECOGNIZED_LIMIT);
    const uncountedCosts = uncounted.get(providerId) ?? 0;
    const late = countLate(reader, providerId);
    const conditions = [
      ...conditionsOf(PROVIDER_RULES, { ...facts.get(name)!, uncountedCosts }, now),
      ...conditionsOf(NUMBER_RULES, { name, count: numbers.length, orders: numbers }, now),
      ...conditionsOf(LATE_REPORT_RULES, { name, count: late }, now),
    ];
    return { ...provider, ...orders, attention: conditions.map(sentenceOf) };
  });
}

export function statusOf(reader: Reader, provider: Provider, now: number): ProviderStatus {
  return statusesOf(reader, [provider], now)[0]!;
}

/** Returns the members for --json, without the key. */
export function providerJson(provider: ProviderStatus) {
  return {
    name: provider.name,
    url: provider.url,
    open: provider.open,
    unknown: provider.unknown,
    lastSuccessAt: isoTime(provider.lastSuccessAt),
    oldestUncheckedAt: isoTime(provider.oldestUncheckedAt),
    ...(provider.lowBalanceMicros !== null && {
      lowBalance: jsonAmount(provider.lowBalanceMicros),
      lastBalance: provider.balanceMicros === null ? null : jsonAmount(provider.balanceMicros),
      lastBalanceAt: isoTime(provider.balanceAt),
    }),
    rateToUsd: provider.rateToUsd,
    currency: expectedCurrency(provider),
    active: provider.active,
    pausedAt: isoTime(provider.pausedAt),
    pausedBy: provider.pausedBy,
    pausedUntil: isoTime(provider.pausedUntil),
    onNoFunds: provider.onNoFunds,
    holdFor: formatDuration(provider.holdMs),
    holdLimit: jsonAmount(provider.holdLimitMicros),
    markup: provider.markup === null ? null : Number(provider.markup),
    categoryMarkups: Object.fromEntries(
      Object.entries(readCategoryMarkups(provider.categoryMarkups)).map(([category, percent]) => [
        category,
        Number(percent),
      ]),
    ),
    roundPrices: provider.roundPrices,
    syncEvery: provider.syncEvery === null ? null : formatDuration(provider.syncEvery),
    syncMaxPriceChange: Number(provider.syncPriceLimit),
    syncMaxDeactivated: provider.syncDeactivationLimit,
    syncNew: provider.syncNew,
    readableIds: provider.readableIds,
    syncedAt: isoTime(provider.syncedAt),
    syncHeld: provider.syncHeld,
    attention: provider.attention,
  };
}

type ProviderJson = ReturnType<typeof providerJson>;

/** Returns the cells of a provider in a table. */
export function rowOf(provider: ProviderJson): Row {
  const { name, url, open, unknown, lastSuccessAt, oldestUncheckedAt, active } = provider;
  const shown = {
    name,
    active,
    paused: pausedText(provider),
    open,
    unknown,
    lastSuccessAt,
    oldestUncheckedAt,
    url,
  };
  return { ...shown, ...syncFacts(provider) };
}

function pausedText({ pausedBy, pausedUntil }: ProviderJson): string {
  return `${pausedBy ?? "no"}${pausedUntil === null ? "" : ` until ${pausedUntil}`}`;
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
    withoutFunds: withoutFunds(provider),
    ...low,
    attention: attention.join("; "),
  };
}

/** Returns what happens to orders that the provider refuses for lack of funds. */
function withoutFunds({ onNoFunds, holdFor, holdLimit }: ProviderJson): string {
  return onNoFunds === "refund" ? "refund" : `hold for ${holdFor}, up to ${holdLimit} USD`;
}

/** Returns the settings of syncs, and when a sync last read the list, which it may not have applied. */
function syncFacts(provider: ProviderJson): Row {
  const { markup, syncEvery, syncMaxPriceChange, syncMaxDeactivated, syncNew } = provider;
  const { readableIds, syncedAt, syncHeld, categoryMarkups, roundPrices } = provider;
  const categories = Object.entries(categoryMarkups)
    .map(([category, percent]) => `, ${category} ${percent}%`)
    .join("");
  const at = syncedAt?.replace(/\.\d{3}Z$/, "Z");
  const limits = `, at most ${syncMaxPriceChange}% and ${syncMaxDeactivated} deactivated`;
  const ids = readableIds ? ", readable ids" : "";
  return {
    lastSync: syncHeld === null || at === undefined ? syncedAt : `${at}, not applied`,
    markup: markup === null ? null : `${markup}%${categories}`,
    ...(roundPrices === "none" ? {} : { prices: `rounded up to ${roundPrices}` }),
    sync: syncEvery === null ? null : `every ${syncEvery}${limits}`,
    newServices: `${syncNew}${ids}`,
  };
}
