// An auditor that shares nothing with the service but the database it inspects. It sees the orders,
// the calls to providers with their replies, and what operators did; from that alone it recomputes the possible states
// of every order and every balance.

import type { MarketDatabase } from "./databases.ts";

/** What a provider means, whatever its word. */
export type Meaning = "PROCESSING" | "COMPLETED" | "PARTIAL" | "CANCELLED" | "FAILED";

/** An order as it was asked for. */
export interface Asked {
  link: string;
  reseller: string;
  /** What is charged: of lines how many, of a drip-feed all runs. */
  quantity: number;
  priceMicros: number;
  per: "1000" | "1" | "order";
  service: string;
  manual: boolean;
  /** What its provider must be sent besides service and link. */
  form: Record<string, string>;
}

/** One call that asked a provider to take an order. */
export interface Sent {
  link: string;
  provider: string;
  /** The id of the service there. */
  service: string;
  /** What a live process heard of it; null: nothing that says whether it arrived. */
  heard: "accepted" | "refused" | "no funds" | "not sent" | null;
}

interface Dossier extends Asked {
  sends: Sent[];
  /** The providers that took it, by their own books. */
  takenBy: string[];
  acceptedAs: { provider: string; number: string } | null;
  /** Statuses that a provider's believable report or an operator gave it, and the remains with PARTIAL. */
  heard: Set<string>;
  partials: Set<number>;
  settledAs: { provider: string; number: string } | null;
  settledNotPlaced: boolean;
  cancelAsked: boolean;
  /** The discounts that its reseller had while it may have been placed, in millionths. */
  discounts: Set<number>;
  isPriced: boolean;
  /** The operator accepted what came after its end. */
  accepted: boolean;
  /** The status it was last seen in. */
  seen: string | null;
  /** The final status it was seen in. */
  final: string | null;
}

interface Row {
  orderId: number;
  link: string;
  username: string;
  quantity: number;
  charge: number;
  refunded: number;
  status: string;
  placement: string;
  provider: string | null;
  providerOrder: string | null;
  remains: number;
  /** Attempts on record: one that the clock kept from its call is among them, and was no send. */
  attempts: number;
  /** Attempts at its provider, of all orders, that are or were unknown. */
  unknownThere: number;
}

export interface Auditor {
  credited(reseller: string, micros: number): void;
  /** A credit with a reference of the operator's; returns whether it is the first with it. */
  creditedOnce(reseller: string, reference: string, micros: number): boolean;
  /** Returns the discount before. */
  discounted(reseller: string, ppm: number): number;
  asks(order: Asked): void;
  /** What a provider read of an order. */
  received(link: string, form: Record<string, string>): void;
  /** The providers of a service with its ids there; from the first change on the operator's affair. */
  routed(service: string, routes: readonly string[]): void;
  routesChanged(service: string): void;
  /** From that time on, in milliseconds since the beginning, others go before the provider; null: it is active again. */
  deactivated(provider: string, at: number | null): void;
  /** An operator paused it. */
  paused(provider: string): void;
  /** Orders wait until the provider has funds, or are refunded if too much waits. */
  holds(provider: string): void;
  sent(link: string, provider: string, service: string, at: number): Sent;
  /** A provider put the order into its book. */
  taken(link: string, provider: string): void;
  heardAccepted(sent: Sent, number: string): void;
  heardRefusal(sent: Sent): void;
  /** A refusal for lack of funds by a provider where orders wait for them. */
  heardNoFunds(sent: Sent): void;
  heardNotSent(sent: Sent): void;
  heardReport(link: string, meaning: Meaning, remains: number): void;
  asked(orders: number): void;
  operatorMoved(link: string, status: string, remains: number): void;
  operatorSettled(link: string, placed: { provider: string; number: string } | null): void;
  operatorAccepted(link: string, status: string): void;
  /** From now on nothing that arrives is lost, so what must be listed must be found listed. */
  calmBegins(): void;
  /** An answer that a caller got. */
  answered(link: string, status: string): void;
  /** Throws Finding for the first thing that is wrong. */
  audit(): void;
  /** The same for what came after an order's end; at the very end. */
  auditLists(): void;
  rows(): Row[];
  /** Its reseller asked to cancel it. */
  cancelAsked(link: string): void;
  /** How many orders were sent to more than one provider, or as more than one of its services. */
  rerouted(): number;
  /** The ids of the services that are offered. */
  offered(): Set<string>;
  /** The number of a reseller's account. */
  accountOf(reseller: string): number;
  dossier(link: string): Dossier;
}

/** Something that must never be. */
export class Finding extends Error {
  override name = "Finding";
}

const FINAL = new Set(["FAILED", "CANCELLED", "REFUNDED"]);
const ASK_LIMIT = 100;
/** What every order is sent with, whatever its type. */
const SENT_WITH_ALL = new Set(["key", "action", "service", "link"]);
/** A process may take so long to notice that a provider was deactivated: its timers are late here. */
const NOTICED_MS = 120_000;
/** Unknown outcomes in a row that pause a provider: a setting of the market's processes. */
export const PAUSE_AFTER = 3;
/** An attempt that began before a pause may be sent so much later. */
const SENT_WITHIN_MS = 15_000;

export function createAuditor({ query }: Pick<MarketDatabase, "query">): Auditor {
  const dossiers = new Map<string, Dossier>();
  const credits = new Map<string, number>();
  const discounts = new Map<string, number>();
  const references = new Set<string>();
  const toList: { link: string; meaning: Meaning }[] = [];
  /** What was wrong the moment it happened. */
  const wrong: string[] = [];
  const routes = new Map<string, ReadonlySet<string>>();
  const inactive = new Map<string, number>();
  const pausedByHand = new Set<string>();
  const holding = new Set<string>();
  /** Providers that were seen paused: since when by their rows, and when that was first seen. */
  const paused = new Map<string, { pausedAt: number; seenAt: number }>();
  let calm = false;
  const isListed = (link: string, meaning: Meaning) =>
    query(
      "SELECT 1 FROM late_reports JOIN orders USING (order_id) WHERE link = ? AND late_reports.reported = ?",
      link,
      meaning,
    ).length > 0;
  const dossier = (link: string) => {
    const found = dossiers.get(link);
    if (!found) throw new Finding(`${link} was never asked for`);
    return found;
  };
  const must = (holds: boolean, what: string) => {
    if (!holds) throw new Finding(what);
  };
  const activeRoutes = (service: string) =>
    query<{ route: string }>(
      `SELECT name || ':' || routes.provider_service AS route FROM (
          SELECT provider_id, provider_service FROM services WHERE id = ? AND route_delisted = 0
          UNION ALL SELECT provider_id, provider_service FROM service_routes WHERE service_id = ? AND delisted = 0
        ) AS routes JOIN providers ON providers.provider_id = routes.provider_id WHERE providers.active = 1`,
      service,
      service,
    ).map(({ route }) => route);
  const selectRows = () =>
    query<Row>(`SELECT order_id AS "orderId", link, username, quantity, charge_micros AS charge,
      refunded_micros AS refunded, status, placement, providers.name AS "provider",
      provider_order AS "providerOrder", remains,
      (SELECT count(*) FROM attempts WHERE attempts.order_id = orders.order_id) AS "attempts",
      (SELECT count(*) FROM attempts WHERE attempts.provider_id = orders.provider_id
        AND outcome = 'unknown') AS "unknownThere"
    FROM orders JOIN users ON account = reseller_account LEFT JOIN providers USING (provider_id)
    WHERE test_of IS NULL ORDER BY order_id`);
  const selectStranded = () =>
    query<{ link: string }>(`SELECT link FROM orders JOIN attempts
        ON attempts.order_id = orders.order_id AND attempts.provider_id = orders.provider_id
          AND attempts.provider_service = orders.provider_service
      WHERE placement = 'queued' AND outcome = 'refused'`);
  const selectBalances = () =>
    query<{
      username: string;
      balance: number;
      ledger: number;
    }>(`SELECT username, balance_micros AS balance,
      (SELECT coalesce(sum(amount_micros), 0) FROM transfers WHERE credit_account = account)
      - (SELECT coalesce(sum(amount_micros), 0) FROM transfers WHERE debit_account = account) AS ledger
    FROM users WHERE test_of IS NULL`);

  const mayHavePaused = ({ provider, unknownThere }: Row) =>
    pausedByHand.has(provider ?? "") ||
    holding.has(provider ?? "") ||
    Number(unknownThere) >= PAUSE_AFTER;
  const auditOrder = (row: Row): number => {
    const known = dossier(row.link);
    const at = `order ${row.orderId} (${row.link}, ${row.status}, ${row.placement})`;
    const charges = [...known.discounts].map((ppm) => chargeOf(known, ppm));
    must(
      charges.includes(row.charge),
      `${at} was charged ${row.charge}, not ${charges.join(" or ")}`,
    );
    must(row.quantity === known.quantity, `${at} is ${row.quantity}, not ${known.quantity}`);
    must(row.username === known.reseller, `${at} belongs to ${row.username}`);
    must(known.takenBy.length <= 1, `${at} was taken by ${known.takenBy.join(" and ")}`);
    must(known.final === null || known.final === row.status, `${at} left ${known.final}`);
    const isReopened = known.seen === "COMPLETED" && row.status === "PARTIAL";
    must(!isReopened || known.accepted, `${at} changed after its end, and nobody accepted that`);
    known.seen = row.status;
    if (FINAL.has(row.status)) known.final = row.status;
    must(isJustified(row, known, mayHavePaused), `${at} has no reason to be so`);
    const asked = new Set(known.sends.map(routeOf));
    const untried = [...(routes.get(known.service) ?? [])].filter(
      (route) => !asked.has(route) && !holding.has(route.split(":")[0]!),
    );
    const isRefused = row.placement === "refused" && !known.settledNotPlaced;
    must(!isRefused || untried.length === 0, `${at} was given up before ${untried[0]} was asked`);
    const refund = refundOf(row);
    must(row.refunded === refund, `${at} has ${row.refunded} refunded, not ${refund}`);
    return row.charge - refund;
  };

  return {
    credited: (reseller, micros) =>
      void credits.set(reseller, (credits.get(reseller) ?? 0) + micros),
    creditedOnce(reseller, reference, micros) {
      const key = `${reseller} ${reference}`;
      if (references.has(key)) return false;
      references.add(key);
      credits.set(reseller, (credits.get(reseller) ?? 0) + micros);
      return true;
    },
    discounted(reseller, ppm) {
      const before = discounts.get(reseller) ?? 0;
      discounts.set(reseller, ppm);
      // One that is on its way may be placed at either price.
      for (const each of dossiers.values()) {
        if (each.reseller === reseller && !each.isPriced) each.discounts.add(ppm);
      }
      return before;
    },
    asks: (order) =>
      void dossiers.set(order.link, {
        ...order,
        sends: [],
        takenBy: [],
        acceptedAs: null,
        heard: new Set(),
        partials: new Set(),
        settledAs: null,
        settledNotPlaced: false,
        cancelAsked: false,
        discounts: new Set([discounts.get(order.reseller) ?? 0]),
        isPriced: false,
        accepted: false,
        seen: null,
        final: null,
      }),
    cancelAsked: (link) => void (dossier(link).cancelAsked = true),
    received(link, sent) {
      const others = Object.entries(sent).filter(([name]) => !SENT_WITH_ALL.has(name));
      const form = Object.fromEntries(others);
      const { form: wanted } = dossier(link);
      const isSame = Bun.deepEquals(form, wanted, true);
      must(isSame, `${link} was sent as ${JSON.stringify(form)}, not ${JSON.stringify(wanted)}`);
    },
    routed: (service, all) => void routes.set(service, new Set(all)),
    routesChanged: (service) => void routes.delete(service),
    deactivated(provider, at) {
      if (at === null) inactive.delete(provider);
      else if (!inactive.has(provider)) inactive.set(provider, at);
      // Whoever is passed over may be one that was never asked.
      routes.clear();
    },
    paused: (provider) => void pausedByHand.add(provider),
    holds: (provider) => void holding.add(provider),
    sent(link, provider, service, at) {
      const { sends } = dossier(link);
      const [{ pausedAt } = { pausedAt: null }] = query<{ pausedAt: number | null }>(
        `SELECT paused_at AS "pausedAt" FROM providers WHERE name = ?`,
        provider,
      );
      const seen = paused.get(provider);
      const isSame = pausedAt !== null && seen?.pausedAt === Number(pausedAt);
      if (isSame && at - seen.seenAt > SENT_WITHIN_MS) {
        wrong.push(`${link} was sent to ${provider}, which is paused`);
      }
      if (pausedAt === null) paused.delete(provider);
      else if (!isSame) paused.set(provider, { pausedAt: Number(pausedAt), seenAt: at });
      const isInactive = at - (inactive.get(provider) ?? at) > NOTICED_MS;
      const refused = new Set(sends.filter(({ heard }) => heard === "refused").map(routeOf));
      const isAlone = activeRoutes(dossier(link).service).every((route) => refused.has(route));
      if (isInactive && !isAlone) wrong.push(`${link} was sent to ${provider}, which is inactive`);
      const sent: Sent = { link, provider, service, heard: null };
      const before = sends.find((each) => !isWithout(each));
      if (before) wrong.push(`${link} was sent to ${provider}: ${before.provider} may have it`);
      const again = sends.find(
        (each) => each.heard === "refused" && routeOf(each) === routeOf(sent),
      );
      if (again) wrong.push(`${link} was sent to ${routeOf(sent)}, which had refused it`);
      sends.push(sent);
      return sent;
    },
    taken: (link, provider) => void dossier(link).takenBy.push(provider),
    heardAccepted(sent, number) {
      sent.heard = "accepted";
      dossier(sent.link).acceptedAs = { provider: sent.provider, number };
    },
    heardRefusal: (sent) => void (sent.heard = "refused"),
    heardNoFunds: (sent) => void (sent.heard = "no funds"),
    heardNotSent: (sent) => void (sent.heard = "not sent"),
    heardReport(link, meaning, remains) {
      const { status } = query<{ status: string }>(
        "SELECT status FROM orders WHERE link = ?",
        link,
      )[0]!;
      const isOver = status !== "PENDING" && status !== "PROCESSING" && status !== meaning;
      if (calm && isOver && !dossier(link).heard.has(meaning)) toList.push({ link, meaning });
      dossier(link).heard.add(meaning);
      if (meaning === "PARTIAL") dossier(link).partials.add(remains);
    },
    calmBegins: () => void (calm = true),
    auditLists() {
      for (const { link, meaning } of toList) {
        must(isListed(link, meaning), `${link}: ${meaning} came late, not listed`);
      }
      const stale = query<{ link: string }>(
        `SELECT link FROM unrecognized_numbers JOIN orders ON orders.order_id = unrecognized_numbers.order_id
        WHERE orders.provider_order <> unrecognized_numbers.provider_order`,
      );
      must(stale.length === 0, `${stale[0]?.link} is listed with a number that was corrected`);
    },
    asked: (orders) => must(orders <= ASK_LIMIT, `${orders} orders were asked about at once`),
    operatorMoved(link, status, remains) {
      dossier(link).heard.add(status);
      if (status === "PARTIAL") dossier(link).partials.add(remains);
    },
    operatorSettled(link, placed) {
      dossier(link).settledAs = placed;
      dossier(link).settledNotPlaced = placed === null;
    },
    operatorAccepted(link, status) {
      const { heard } = dossier(link);
      const isGone = heard.has("CANCELLED") || heard.has("FAILED");
      must(
        status === "PARTIAL" ? heard.has("PARTIAL") : isGone,
        `${link} was accepted as ${status}`,
      );
      dossier(link).accepted = true;
      heard.add(status);
    },
    answered(link, status) {
      // Placed: a later discount does not touch it.
      dossier(link).isPriced = true;
      const { manual } = dossier(link);
      if (manual) must(status === "PROCESSING", `${link} was answered ${status}`);
      if (status !== "FAILED") return;
      // Its caller may still wait when the clock jumps beyond --place-retry.
      const row = selectRows().find((each) => each.link === link);
      const isRight =
        isFailed(dossier(link)) || (row && isGivenUp(row, dossier(link), mayHavePaused(row)));
      must(Boolean(isRight), `${link} was answered as refused`);
    },
    audit() {
      must(wrong.length === 0, wrong[0]!);
      const [stranded] = selectStranded();
      must(!stranded, `${stranded?.link} is on a route that has refused it`);
      const spent = new Map<string, number>();
      for (const row of selectRows()) {
        spent.set(row.username, (spent.get(row.username) ?? 0) + auditOrder(row));
      }
      for (const { username, balance, ledger } of selectBalances()) {
        const expected = (credits.get(username) ?? 0) - (spent.get(username) ?? 0);
        must(balance === expected, `${username} has ${balance}, by what was seen ${expected}`);
        must(ledger === expected, `${username}'s transfers make ${ledger}, not ${expected}`);
      }
    },
    rows: selectRows,
    offered: () =>
      new Set(
        query<{ id: string }>("SELECT id FROM services WHERE active = 1").map(({ id }) => id),
      ),
    rerouted: () =>
      [...dossiers.values()].filter(({ sends }) => new Set(sends.map(routeOf)).size > 1).length,
    accountOf: (reseller) =>
      query<{ account: number }>("SELECT account FROM users WHERE username = ?", reseller)[0]!
        .account,
    dossier,
  };
}

export function priceOf(priceMicros: number, discountPpm: number): bigint {
  return (BigInt(priceMicros) * BigInt(1_000_000 - discountPpm) + 999_999n) / 1_000_000n;
}

/** Price less discount, rounded up, × quantity, rounded up to a whole micro. */
export function chargeOf(
  { priceMicros, per, quantity }: Pick<Asked, "priceMicros" | "per" | "quantity">,
  discountPpm: number,
): number {
  const price = priceOf(priceMicros, discountPpm);
  if (per === "order") return Number(price);
  const product = price * BigInt(quantity);
  return Number(per === "1" ? product : (product + 999n) / 1000n);
}

export function refundOf({
  status,
  charge,
  remains,
  quantity,
}: Pick<Row, "status" | "charge" | "remains" | "quantity">): number {
  if (FINAL.has(status)) return charge;
  return status === "PARTIAL" ? Number((BigInt(charge) * BigInt(remains)) / BigInt(quantity)) : 0;
}

/** A provider and the id of the service there. */
function routeOf({ provider, service }: Pick<Sent, "provider" | "service">): string {
  return `${provider}:${service}`;
}

/** Whether something that was seen led to the status. */
function isJustified(row: Row, known: Dossier, mayPause: (row: Row) => boolean): boolean {
  const { status, placement, provider, providerOrder, remains } = row;
  const isPlaced = [known.acceptedAs, known.settledAs].some(
    (placed) => placed?.number === providerOrder && placed?.provider === provider,
  );
  if ((placement === "placed") !== isPlaced) return false;
  switch (status) {
    case "PENDING":
      return !known.manual;
    case "PROCESSING":
      return known.manual || isPlaced;
    case "PARTIAL":
      return known.partials.has(remains);
    case "FAILED":
      return known.heard.has("FAILED") || isFailed(known) || isGivenUp(row, known, mayPause(row));
    case "CANCELLED":
      return known.heard.has(status) || isCancelledUnsent(row, known);
    default:
      return known.heard.has(status);
  }
}

/** Cancelled because its reseller asked, before it was sent: then it must never have left. */
function isCancelledUnsent({ placement }: Row, { cancelAsked, sends, takenBy }: Dossier): boolean {
  const unsent = sends.every(isWithout);
  return cancelAsked && placement === "queued" && unsent && takenBy.length === 0;
}

/** No provider has it: one refused it at last, after others that did or were not reached. */
function isFailed({ sends, settledNotPlaced }: Dossier): boolean {
  const last = sends.at(-1)?.heard;
  // Refused for lack of funds: too much may wait for them already.
  const isRefused = last === "refused" || last === "no funds";
  return settledNotPlaced || (isRefused && sends.every(isWithout));
}

/** Given up after tries of which none can have arrived, or without one because its provider was paused. */
function isGivenUp(
  { placement, attempts }: Row,
  { sends, takenBy }: Dossier,
  wasPaused: boolean,
): boolean {
  const isTried = attempts > 0 || wasPaused;
  return placement === "expired" && isTried && sends.every(isWithout) && takenBy.length === 0;
}

/** Its provider certainly does not have the order. */
function isWithout({ heard }: Sent): boolean {
  return heard === "refused" || heard === "no funds" || heard === "not sent";
}
