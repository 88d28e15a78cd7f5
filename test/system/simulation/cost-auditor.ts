// Audits the costs of orders. It computes the possible costs of each order, with whole numbers of its own, from the replies
// that a live process read and from what operators set. Each stored cost must be a possible one, in the end that of the
// last reply. A report must equal the sum of all orders.

import type { ReadStore } from "../../../src/db/port/port.ts";
import { REPORT_KEYS } from "../../../src/db/reports/reports.ts";
import { readReport, totalOf } from "../../../src/reports/reports.ts";
import { type Auditor, Finding, type Meaning } from "./auditor.ts";
import type { MarketDatabase } from "./databases.ts";

/** The charge in a reply. */
export interface Told {
  charge: string;
  currency: string | null;
}

interface Heard {
  at: number;
  meaning: Meaning;
  remains: number;
  told: Told | null;
}

interface Seller {
  currency: string;
  /** All rates to USD that it had. */
  factors: string[];
  rates: { afterOrder: number; rate: string }[];
}

interface Row {
  orderId: number;
  link: string;
  provider: string;
  providerService: string;
  quantity: number;
  basis: string;
  micros: number;
  total: number;
}

/** After this time a reply that was read is stored, and replies that were sent before it have arrived. */
const SETTLED_MS = 60_000;
/** The service of a provider whose rate operators sync. */
const SYNCED = "1";
const DECIMALS = 20;
const ONE = 10n ** BigInt(DECIMALS);

export function createCostAuditor({ query }: Pick<MarketDatabase, "query">) {
  const sellers = new Map<string, Seller>();
  const heard = new Map<string, Heard[]>();
  let calmAt = Infinity;

  const rows = () =>
    query<Row>(`SELECT orders.order_id AS "orderId", link, providers.name AS provider, orders.provider_service AS "providerService", quantity, basis, cost_micros AS micros,
        (SELECT sum(change_micros) FROM order_costs AS each WHERE each.order_id = orders.order_id) AS total
      FROM order_costs AS cost JOIN orders ON orders.order_id = cost.order_id
        JOIN providers ON providers.provider_id = orders.provider_id
      WHERE number = (SELECT max(number) FROM order_costs AS other WHERE other.order_id = cost.order_id)`);

  const must = (holds: boolean, what: string) => {
    if (!holds) throw new Finding(what);
  };

  const rateOf = ({ rates }: Seller, orderId: number) =>
    rates.findLast(({ afterOrder }) => afterOrder < orderId)?.rate;

  /** Returns the possible costs in micros, one for each rate to USD that the provider had. */
  const costsOf = (row: Row, { told, meaning, remains }: Heard): number[] => {
    if (meaning === "CANCELLED" || meaning === "FAILED") return [0];
    const seller = sellers.get(row.provider)!;
    if (told?.currency != null && told.currency !== seller.currency) return [0];
    // Other services were never in the list of this provider.
    const rate = row.providerService === SYNCED ? rateOf(seller, row.orderId) : undefined;
    if (!told && rate === undefined) return [];
    const left = { PROCESSING: 0, COMPLETED: 0, PARTIAL: remains, CANCELLED: row.quantity, FAILED: row.quantity }; // prettier-ignore
    const amount = told ? whole(told.charge) : (whole(rate!) * BigInt(row.quantity - left[meaning])) / 1000n; // prettier-ignore
    return seller.factors.map((factor) => up(amount * whole(factor)));
  };

  return {
    provider: (name: string, currency: string, factor: string) =>
      void sellers.set(name, { currency, factors: [factor], rates: [] }),
    factorSet: (name: string, factor: string) => void sellers.get(name)!.factors.push(factor),
    synced(name: string, rate: string) {
      const [last] = query<{ n: number | null }>("SELECT max(order_id) AS n FROM orders");
      sellers.get(name)!.rates.push({ afterOrder: Number(last!.n ?? 0), rate });
    },
    heard(link: string, report: Heard) {
      const all = heard.get(link) ?? [];
      heard.set(link, [...all, report]);
    },
    calmBegins: (at: number) => void (calmAt = at),

    audit() {
      for (const row of rows()) {
        const at = `the cost of ${row.link}`;
        must(Number(row.total) === row.micros, `${at} is ${row.micros}, its changes make ${row.total}`); // prettier-ignore
        const possible = (heard.get(row.link) ?? []).flatMap((each) => costsOf(row, each));
        must(possible.includes(row.micros), `${at} is ${row.micros}: no reply says so`);
      }
    },

    /** Checks costs against the last replies, once all replies arrive. */
    auditEnd(now: number) {
      const costs = new Map(rows().map((row) => [row.link, row]));
      for (const [link, all] of heard) {
        const last = all.at(-1)!;
        if (last.at < calmAt + SETTLED_MS || last.at > now - SETTLED_MS) continue;
        const row = costs.get(link);
        if (last.told) {
          must(row !== undefined, `${link} has no cost, but was charged ${last.told.charge}`);
          const expected = costsOf(row!, last);
          must(expected.includes(row!.micros), `${link} costs ${row!.micros}, but the last charge is ${last.told.charge}`); // prettier-ignore
        } else if (all.every(({ told }) => told === null) && row) {
          must(row.basis === "rate", `${link} costs by ${row.basis}, but no reply had a charge`);
          must(costsOf(row, last).includes(row.micros), `${link} costs ${row.micros} by its rate`);
        }
      }
    },

    /** Checks that a report of everything equals the sum of the single orders. */
    async auditReports(store: ReadStore, orders: ReturnType<Auditor["rows"]>) {
      const sum = (pick: (row: (typeof orders)[number]) => number) =>
        orders.reduce((total, row) => total + BigInt(pick(row)), 0n);
      const expected = {
        orders: orders.length,
        revenueMicros: sum(({ charge, status, placement }) =>
          status === "PENDING" && placement === "unknown" ? 0 : charge,
        ),
        refundsMicros: sum(({ refunded }) => refunded),
        costMicros: rows().reduce((total, { micros }) => total + BigInt(micros), 0n),
      };
      for (const by of REPORT_KEYS) {
        const found = totalOf(await readReport(store, by, { from: null, to: null }));
        for (const [name, amount] of Object.entries(expected)) {
          const told = found[name as keyof typeof expected];
          must(told === amount, `the report by ${by} has ${name} ${told}, the orders ${amount}`);
        }
      }
    },
  };
}

export type CostAuditor = ReturnType<typeof createCostAuditor>;

/** A decimal times ONE. */
function whole(decimal: string): bigint {
  const [units = "", fraction = ""] = decimal.split(".");
  return BigInt(units + fraction.padEnd(DECIMALS, "0"));
}

/** A product of two of them in whole micros, rounded up. */
function up(product: bigint): number {
  const micro = (ONE * ONE) / 1_000_000n;
  return Number((product + micro - 1n) / micro);
}
