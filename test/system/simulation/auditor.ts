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
  manual: boolean;
  /** What its provider must be sent besides service and link. */
  form: Record<string, string>;
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
  cancelAsked: boolean;
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
  asks(order: Asked): void;
  sent(link: string): void;
  received(link: string, form: Record<string, string>): void;
  heardAccepted(link: string, number: string): void;
  heardRefusal(link: string): void;
  heardNotSent(link: string): void;
  heardReport(link: string, meaning: Meaning, remains: number): void;
  asked(orders: number): void;
  operatorMoved(link: string, status: string, remains: number): void;
  operatorSettled(link: string, number: string | null): void;
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

export function createAuditor({ query }: Pick<MarketDatabase, "query">): Auditor {
  const dossiers = new Map<string, Dossier>();
  const credits = new Map<string, number>();
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
    must(row.charge === chargeOf(known), `${at} was charged ${row.charge}, not ${chargeOf(known)}`);
    must(row.quantity === known.quantity, `${at} is ${row.quantity}, not ${known.quantity}`);
    must(row.username === known.reseller, `${at} belongs to ${row.username}`);
    must(known.receipts <= 1, `${at} reached its provider ${known.receipts} times`);
    must(known.sends - known.notSent <= 1, `${at} was sent again though it may have arrived`);
    must(known.final === null || known.final === row.status, `${at} left ${known.final}`);
    if (FINAL.has(row.status)) known.final = row.status;
    must(isJustified(row, known), `${at} has no reason to be so`);
    const refund = refundOf(row);
    must(row.refunded === refund, `${at} has ${row.refunded} refunded, not ${refund}`);
    return row.charge - refund;
  };

  return {
    credited: (reseller, micros) =>
      void credits.set(reseller, (credits.get(reseller) ?? 0) + micros),
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
        cancelAsked: false,
        final: null,
      }),
    cancelAsked: (link) => void (dossier(link).cancelAsked = true),
    sent: (link) => void (dossier(link).sends += 1),
    received(link, sent) {
      const others = Object.entries(sent).filter(([name]) => !SENT_WITH_ALL.has(name));
      const form = Object.fromEntries(others);
      dossier(link).receipts += 1;
      const { form: wanted } = dossier(link);
      const isSame = Bun.deepEquals(form, wanted, true);
      must(isSame, `${link} was sent as ${JSON.stringify(form)}, not ${JSON.stringify(wanted)}`);
    },
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
    answered(link, status) {
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

/** Price × quantity, rounded up to a whole micro. */
function chargeOf({ priceMicros, per, quantity }: Asked): number {
  if (per === "order") return priceMicros;
  const product = BigInt(priceMicros) * BigInt(quantity);
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
    case "CANCELLED":
      return known.heard.has(status) || isCancelledUnsent(row, known);
    default:
      return known.heard.has(status);
  }
}

/** Cancelled because its reseller asked, before it was sent: then it must never have left. */
function isCancelledUnsent(
  { placement }: Row,
  { cancelAsked, sends, notSent, receipts }: Dossier,
): boolean {
  return cancelAsked && placement === "queued" && sends === notSent && receipts === 0;
}

function isFailed({ refused, settledNotPlaced }: Dossier): boolean {
  return refused || settledNotPlaced;
}

/** Given up after tries of which none can have arrived. */
function isGivenUp({ placement }: Row, { sends, notSent, receipts }: Dossier): boolean {
  return placement === "expired" && sends > 0 && sends === notSent && receipts === 0;
}
