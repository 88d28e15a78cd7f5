// The auditor of test traffic: from what resellers' programs did with their test keys and from what each magic link stands
// for, it checks every test order and every test balance, and that the live side has nothing of them. It shares no code with the service.

import { type Asked, chargeOf, Finding, refundOf } from "./auditor.ts";
import type { MarketDatabase } from "./databases.ts";

/** What becomes of an order by its link. */
interface Outcome {
  link: string;
  /** How it ends if nobody moves it; null: it is never made. */
  ends: string | null;
  /** So long after it was placed. */
  afterMs: number;
  /** Whether the sandbox ever takes it. */
  isPlaced: boolean;
  /** With PARTIAL, at most its quantity. */
  remains: number;
}

function ending(path: string, ends: string | null, afterMs: number, others?: Partial<Outcome>) {
  const link = path.startsWith("https:") ? path : `https://test.invalid/${path}`;
  return { link, ends, afterMs, isPlaced: true, remains: 0, ...others };
}

export const OUTCOMES: readonly Outcome[] = [
  ending("https://example.com/a-page", "COMPLETED", 30_000),
  ending("complete", "COMPLETED", 1000),
  ending("complete/20m", "COMPLETED", 1_200_000),
  ending("partial/157", "PARTIAL", 5000, { remains: 157 }),
  ending("cancel", "CANCELLED", 5000),
  ending("fail", "FAILED", 5000),
  ending("refuse", "FAILED", 0, { isPlaced: false }),
  ending("pending", "PENDING", 0, { isPlaced: false }),
  ending("pending/complete", "COMPLETED", 5000),
  ending("pending/cancel", "CANCELLED", 5000),
  ending("slow/8s", "COMPLETED", 30_000),
  ending("lost", "COMPLETED", 30_000),
  ending("funds", null, 0, { isPlaced: false }),
];

/** What a test account begins with. */
const FIRST_CREDIT = 1_000_000_000;
/** How late a status may be: timers lag, the process may be down. */
const LATE_MS = 5 * 60_000;

/** An order as it was asked for; `reference` names it, since many have the same link. */
export interface AskedTest extends Pick<Asked, "priceMicros" | "per" | "quantity"> {
  reference: string;
  reseller: string;
  outcome: Outcome;
}

interface Dossier extends AskedTest {
  /** The discounts that its reseller had while it may have been made. */
  discounts: Set<number>;
  isPriced: boolean;
  /** Statuses that its reseller gave it. */
  moved: Set<string>;
  partials: Set<number>;
  cancelAsked: boolean;
}

interface Row {
  orderId: number;
  reference: string;
  link: string;
  owner: string;
  protocol: string | null;
  quantity: number;
  charge: number;
  refunded: number;
  status: string;
  placement: string;
  remains: number;
  attempts: number;
  sent: number;
  changedAt: number;
}

const ROWS = `SELECT orders.order_id AS "orderId", reference, link, owner.username AS owner, protocol, quantity,
    charge_micros AS charge, refunded_micros AS refunded, status, placement, remains,
    (SELECT count(*) FROM attempts AS attempt WHERE attempt.order_id = orders.order_id) AS attempts,
    (SELECT count(*) FROM attempts AS attempt
      WHERE attempt.order_id = orders.order_id AND outcome <> 'not_sent') AS sent,
    coalesce((SELECT max(event.created_at) FROM order_events AS event WHERE event.order_id = orders.order_id),
      orders.created_at) AS "changedAt"
  FROM orders JOIN users AS side ON side.account = reseller_account JOIN users AS owner ON owner.account = side.test_of
    LEFT JOIN providers ON providers.provider_id = orders.provider_id
  ORDER BY orders.order_id`;

/** Rows that must not be, with what is wrong of them; none of them ever goes. */
const NEVER: readonly [what: string, text: string][] = [
  [
    "live orders are delivered by the sandbox",
    `SELECT 1 FROM orders JOIN users ON account = reseller_account JOIN providers ON providers.provider_id = orders.provider_id
      WHERE test_of IS NULL AND protocol = 'sandbox'`,
  ],
  [
    "attempts of test orders were at live providers, or of live orders at the sandbox",
    `SELECT 1 FROM attempts JOIN orders ON orders.order_id = attempts.order_id
      JOIN users ON account = reseller_account JOIN providers ON providers.provider_id = attempts.provider_id
      WHERE (CASE WHEN test_of IS NULL THEN 0 ELSE 1 END) <> (CASE WHEN protocol = 'sandbox' THEN 1 ELSE 0 END)`,
  ],
  [
    "test orders have costs",
    `SELECT 1 FROM order_costs JOIN orders ON orders.order_id = order_costs.order_id
      JOIN users ON account = reseller_account WHERE test_of IS NOT NULL`,
  ],
  [
    "transfers are between the sides, or of an account of both",
    `SELECT other FROM (
        SELECT CASE WHEN test_of IS NULL THEN 0 ELSE 1 END AS side,
          CASE WHEN account = debit_account THEN credit_account ELSE debit_account END AS other
        FROM transfers JOIN users ON account = debit_account OR account = credit_account
      ) AS counterparts
      GROUP BY other HAVING min(side) <> max(side) OR other IN (SELECT account FROM users)`,
  ],
  [
    "bodies of webhooks are not marked as those of their side",
    `SELECT 1 FROM webhook_events JOIN users ON account = reseller_account
      WHERE (CASE WHEN test_of IS NULL THEN 0 ELSE 1 END) <> (CASE WHEN body LIKE '%"test":true%' THEN 1 ELSE 0 END)`,
  ],
];

export interface TestAuditor {
  /** A reseller has a test key. */
  began(reseller: string): void;
  asks(order: AskedTest): void;
  /** An answer that a caller got. */
  answered(reference: string, status: string): void;
  refused(reference: string): void;
  discounted(reseller: string, ppm: number): void;
  credited(reseller: string, micros: number): void;
  moved(reference: string, status: string, remains: number): void;
  cancelAsked(reference: string): void;
  /** A provider was sent something. */
  sent(form: Record<string, string>): void;
  rows(): Row[];
  audit(): void;
  auditEnd(now: number): void;
}

export function createTestAuditor({ query }: Pick<MarketDatabase, "query">): TestAuditor {
  const dossiers = new Map<string, Dossier>();
  const credits = new Map<string, number>();
  const discounts = new Map<string, number>();
  const wrong: string[] = [];
  const must = (holds: boolean, what: string) => {
    if (!holds) throw new Finding(`test side: ${what}`);
  };
  const dossier = (reference: string) => {
    const found = dossiers.get(reference);
    if (!found) throw new Finding(`test side: order ${reference} was never asked for`);
    return found;
  };
  const links = new Set(OUTCOMES.map(({ link }) => link));
  const selectRows = () => query<Row>(ROWS);

  const auditOrder = (row: Row): number => {
    const known = dossier(row.reference);
    const at = `order ${row.orderId} (${row.reference}, ${row.link}, ${row.status}, ${row.placement})`;
    const charges = [...known.discounts].map((ppm) => chargeOf(known, ppm));
    must(charges.includes(Number(row.charge)), `${at} was charged ${row.charge}`);
    must(row.quantity === known.quantity, `${at} is ${row.quantity}, not ${known.quantity}`);
    must(row.owner === known.reseller, `${at} belongs to ${row.owner}`);
    must(row.link === known.outcome.link, `${at} was asked for with ${known.outcome.link}`);
    must(row.protocol === "sandbox", `${at} is delivered by ${row.protocol}`);
    must(isJustified(row, known), `${at} has no reason to be so`);
    const refund = refundOf(row);
    must(row.refunded === refund, `${at} has ${row.refunded} refunded, not ${refund}`);
    return row.charge - refund;
  };

  const auditBalances = (spent: ReadonlyMap<string, number>) => {
    const balances = query<{ owner: string; balance: number; ledger: number }>(
      `SELECT owner.username AS owner, side.balance_micros AS balance,
        (SELECT coalesce(sum(amount_micros), 0) FROM transfers WHERE credit_account = side.account)
        - (SELECT coalesce(sum(amount_micros), 0) FROM transfers WHERE debit_account = side.account) AS ledger
      FROM users AS side JOIN users AS owner ON owner.account = side.test_of`,
    );
    for (const { owner, balance, ledger } of balances) {
      const expected = (credits.get(owner) ?? 0) - (spent.get(owner) ?? 0);
      must(Number(balance) === expected, `${owner} has ${balance}, by what was seen ${expected}`);
      must(Number(ledger) === expected, `${owner}'s transfers make ${ledger}, not ${expected}`);
    }
  };

  return {
    began: (reseller) => void credits.set(reseller, FIRST_CREDIT),
    asks(order) {
      dossiers.set(order.reference, {
        ...order,
        discounts: new Set([discounts.get(order.reseller) ?? 0]),
        isPriced: false,
        moved: new Set(),
        partials: new Set(),
        cancelAsked: false,
      });
    },
    answered(reference, status) {
      const known = dossier(reference);
      known.isPriced = true;
      const { isPlaced, ends } = known.outcome;
      const may = ["PENDING", isPlaced ? "PROCESSING" : ends, ...known.moved];
      if (known.cancelAsked) may.push("CANCELLED");
      must(may.includes(status), `${reference} was answered ${status}`);
    },
    refused: (reference) => void (dossier(reference).isPriced = true),
    discounted(reseller, ppm) {
      discounts.set(reseller, ppm);
      for (const each of dossiers.values()) {
        if (each.reseller === reseller && !each.isPriced) each.discounts.add(ppm);
      }
    },
    credited: (reseller, micros) => void credits.set(reseller, credits.get(reseller)! + micros),
    moved(reference, status, remains) {
      dossier(reference).moved.add(status);
      if (status === "PARTIAL") dossier(reference).partials.add(remains);
    },
    cancelAsked: (reference) => void (dossier(reference).cancelAsked = true),
    sent(form) {
      const { link } = form;
      if (link !== undefined && links.has(link)) wrong.push(`${link} was sent to a provider`);
    },
    rows: selectRows,
    audit() {
      must(wrong.length === 0, wrong[0]!);
      const spent = new Map<string, number>();
      for (const row of selectRows()) {
        spent.set(row.owner, (spent.get(row.owner) ?? 0) + auditOrder(row));
      }
      auditBalances(spent);
    },
    auditEnd(now) {
      for (const [what, text] of NEVER) must(query(text).length === 0, what);
      for (const row of selectRows()) {
        const { outcome, moved, cancelAsked } = dossier(row.reference);
        const at = `order ${row.orderId} (${row.reference}, ${row.link}, ${row.status}, ${row.placement})`;
        const isOpen = row.status === "PENDING" && row.placement !== "unknown";
        must(!isOpen, `${at} was never finished`);
        if (moved.size > 0 || cancelAsked || row.placement === "expired") continue;
        // A clock that went back makes it late by as much.
        if (now - Number(row.changedAt) < outcome.afterMs + LATE_MS) continue;
        must(row.status === outcome.ends, `${at} has not become ${outcome.ends}`);
      }
    },
  };
}

/** Whether its link or its reseller led to the status. */
function isJustified(row: Row, { outcome, moved, partials, cancelAsked }: Dossier): boolean {
  const { status, placement, remains, quantity } = row;
  const { ends, isPlaced } = outcome;
  if (ends === null) return false;
  if (placement === "unknown" && ends !== "PENDING") return false;
  switch (status) {
    case "PENDING":
      return true;
    case "PROCESSING":
      return isPlaced || moved.has(status);
    case "PARTIAL":
      return (
        partials.has(remains) ||
        (ends === status && remains === Math.min(outcome.remains, quantity))
      );
    case "FAILED":
      return ends === status || moved.has(status) || isGivenUp(row);
    case "CANCELLED":
      return ends === status || moved.has(status) || cancelAsked;
    default:
      return ends === status || moved.has(status) || (!isPlaced && moved.has("PROCESSING"));
  }
}

/** The clock jumped while the sandbox had it wait. */
function isGivenUp({ placement, attempts, sent }: Row): boolean {
  return placement === "expired" && Number(attempts) > 0 && Number(sent) === 0;
}
