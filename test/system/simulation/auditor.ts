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
  quantity: number;
  priceMicros: number;
  per: "1000" | "1" | "order";
  manual: boolean;
}

interface Dossier extends Asked {
  sends: number;
  notSent: number;
  receipts: number;
  acceptedAs: string | null;
  refused: boolean;
  /** Statuses that a provider's believable report or an operator gave it, and the remains with PARTIAL. */
  heard: Set<string>;
  partials: Set<number>;
  settledAs: string | null;
  settledNotPlaced: boolean;
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
  providerId: number | null;
  providerOrder: string | null;
  remains: number;
}

export interface Auditor {
  credited(reseller: string, micros: number): void;
  /** A credit with a reference of the operator's; returns whether it is the first with it. */
  creditedOnce(reseller: string, reference: string, micros: number): boolean;
  /** Returns the discount before. */
  discounted(reseller: string, ppm: number): number;
  asks(order: Asked): void;
  sent(link: string): void;
  received(link: string): void;
  heardAccepted(link: string, number: string): void;
  heardRefusal(link: string): void;
  heardNotSent(link: string): void;
  heardReport(link: string, meaning: Meaning, remains: number): void;
  asked(orders: number): void;
  operatorMoved(link: string, status: string, remains: number): void;
  operatorSettled(link: string, number: string | null): void;
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

export function createAuditor({ query }: Pick<MarketDatabase, "query">): Auditor {
  const dossiers = new Map<string, Dossier>();
  const credits = new Map<string, number>();
  const discounts = new Map<string, number>();
  const references = new Set<string>();
  const toList: { link: string; meaning: Meaning }[] = [];
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
  const selectRows = () =>
    query<Row>(`SELECT order_id AS "orderId", link, username, quantity, charge_micros AS charge,
      refunded_micros AS refunded, status, placement, provider_id AS "providerId",
      provider_order AS "providerOrder", remains
    FROM orders JOIN users ON account = reseller_account ORDER BY order_id`);
  const selectBalances = () =>
    query<{
      username: string;
      balance: number;
      ledger: number;
    }>(`SELECT username, balance_micros AS balance,
      (SELECT coalesce(sum(amount_micros), 0) FROM transfers WHERE credit_account = account)
      - (SELECT coalesce(sum(amount_micros), 0) FROM transfers WHERE debit_account = account) AS ledger
    FROM users`);

  const auditOrder = (row: Row): number => {
    const known = dossier(row.link);
    const at = `order ${row.orderId} (${row.link}, ${row.status}, ${row.placement})`;
    const charges = [...known.discounts].map((ppm) => chargeOf(known, ppm));
    must(
      charges.includes(row.charge),
      `${at} was charged ${row.charge}, not ${charges.join(" or ")}`,
    );
    must(row.username === known.reseller, `${at} belongs to ${row.username}`);
    must(known.receipts <= 1, `${at} reached its provider ${known.receipts} times`);
    must(known.sends - known.notSent <= 1, `${at} was sent again though it may have arrived`);
    must(known.final === null || known.final === row.status, `${at} left ${known.final}`);
    const isReopened = known.seen === "COMPLETED" && row.status === "PARTIAL";
    must(!isReopened || known.accepted, `${at} changed after its end, and nobody accepted that`);
    known.seen = row.status;
    if (FINAL.has(row.status)) known.final = row.status;
    must(isJustified(row, known), `${at} has no reason to be so`);
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
        sends: 0,
        notSent: 0,
        receipts: 0,
        acceptedAs: null,
        refused: false,
        heard: new Set(),
        partials: new Set(),
        settledAs: null,
        settledNotPlaced: false,
        discounts: new Set([discounts.get(order.reseller) ?? 0]),
        isPriced: false,
        accepted: false,
        seen: null,
        final: null,
      }),
    sent: (link) => void (dossier(link).sends += 1),
    received: (link) => void (dossier(link).receipts += 1),
    heardAccepted: (link, number) => void (dossier(link).acceptedAs = number),
    heardRefusal: (link) => void (dossier(link).refused = true),
    heardNotSent: (link) => void (dossier(link).notSent += 1),
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
    operatorSettled(link, number) {
      dossier(link).settledAs = number;
      dossier(link).settledNotPlaced = number === null;
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
      if (status === "FAILED") must(isFailed(dossier(link)), `${link} was answered as refused`);
    },
    audit() {
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
function chargeOf({ priceMicros, per, quantity }: Asked, discountPpm: number): number {
  const price = priceOf(priceMicros, discountPpm);
  if (per === "order") return Number(price);
  const product = price * BigInt(quantity);
  return Number(per === "1" ? product : (product + 999n) / 1000n);
}

function refundOf({ status, charge, remains, quantity }: Row): number {
  if (FINAL.has(status)) return charge;
  return status === "PARTIAL" ? Number((BigInt(charge) * BigInt(remains)) / BigInt(quantity)) : 0;
}

/** Whether something that was seen led to the status. */
function isJustified(row: Row, known: Dossier): boolean {
  const { status, placement, providerOrder, remains } = row;
  const isPlaced =
    providerOrder !== null && [known.acceptedAs, known.settledAs].includes(providerOrder);
  if ((placement === "placed") !== isPlaced) return false;
  switch (status) {
    case "PENDING":
      return !known.manual;
    case "PROCESSING":
      return known.manual || isPlaced;
    case "PARTIAL":
      return known.partials.has(remains);
    case "FAILED":
      return known.heard.has("FAILED") || isFailed(known) || isGivenUp(row, known);
    default:
      return known.heard.has(status);
  }
}

function isFailed({ refused, settledNotPlaced }: Dossier): boolean {
  return refused || settledNotPlaced;
}

/** Given up after tries of which none can have arrived. */
function isGivenUp({ placement }: Row, { sends, notSent, receipts }: Dossier): boolean {
  return placement === "expired" && sends > 0 && sends === notSent && receipts === 0;
}
