// The performance targets of a run on one machine, as ratios where possible.

import { caseOf } from "./parts/orders.ts";
import { READS_MEANWHILE } from "./parts/disk.ts";
import { EMPTY, MARKET } from "./parts/idle.ts";
import { AFTER, IDLE } from "./parts/memory.ts";
import { FSYNCS_MILLISECONDS, postgresCase } from "./parts/postgres.ts";
import { ALONE, CLICKED, PAGES } from "./parts/panel.ts";
import { PORTAL_CASES, portalCase } from "./parts/portal.ts";
import { BALANCE, ORDER } from "./parts/reads.ts";
import { MILLION } from "./parts/starts.ts";
import { sizeOf } from "./parts/sizes.ts";
import { BARE_SQLITE, bareHeaders } from "./subjects/limits.ts";
import { expressSqlite, fastifyPostgres } from "./subjects/peers.ts";
import { nginxPhp } from "./subjects/php.ts";
import { resellerOnPostgres } from "./subjects/reseller-postgres.ts";
import { reseller, resellerWithPortal } from "./subjects/reseller.ts";
import { RESELLERS } from "./subjects/subject.ts";
import { figure, type Metric, type Results } from "./tools/results.ts";

export interface Bar {
  what: string;
  /** The measured figure must be `atLeast` this, or `atMost`. */
  atLeast?: number;
  atMost?: number;
  /** Undefined where it was not measured. */
  measure: (results: Results) => number | undefined;
}

/** What orders of one reseller, and of 16, must be against each peer. */
const PEERS: readonly { peer: string; one: number; many: number }[] = [
  { peer: expressSqlite.name, one: 10, many: 10 },
  { peer: fastifyPostgres.name, one: 16, many: 10 },
  { peer: nginxPhp.name, one: 12, many: 9 },
];

/** The verdict on what this run did not measure. */
export const NOT_MEASURED = "not measured";

export const BAR: readonly Bar[] = [
  ...[1, RESELLERS].flatMap((resellers): Bar[] => {
    const what = caseOf(128, resellers);
    return [
      ...PEERS.map(({ peer, one, many }) => ({
        what: `orders/s against ${peer}, ${what}`,
        atLeast: resellers === 1 ? one : many,
        measure: ratio("orders", what, "per second", peer),
      })),
      {
        what: `orders/s, 4 ms fsync, against ${expressSqlite.name}, ${what}`,
        atLeast: 40,
        measure: ratio("disk", what, "per second", expressSqlite.name),
      },
      {
        what: `orders/s against the ${BARE_SQLITE}, ${what}`,
        atLeast: 0.6,
        measure: ratio("orders", what, "per second", BARE_SQLITE),
      },
      {
        what: `processor of 10,000 orders (s), ${what}`,
        atMost: 0.8,
        measure: (results) => results.median("orders", what, reseller.name, "CPU s per 10,000"),
      },
      {
        what: `order latency p99 (ms), ${what}`,
        atMost: 18,
        measure: (results) => results.median("orders", what, reseller.name, "p99 ms"),
      },
      {
        what: `order latency p50 against ${expressSqlite.name}, ${caseOf(1, resellers)}`,
        atMost: 1,
        measure: ratio("orders", caseOf(1, resellers), "p50 ms", expressSqlite.name),
      },
      ...[BALANCE, ORDER].map((path) => ({
        what: `${path} against ${bareHeaders.name}, ${what}`,
        atLeast: 0.65,
        measure: ratio("reads", `${path}, ${what}`, "per second", bareHeaders.name),
      })),
    ];
  }),
  {
    what: "orders/s with Idempotency-Keys against without, 16 resellers",
    atLeast: 0.9,
    measure: (results) => {
      const on = (keyed: boolean) =>
        results.median(
          "postgres",
          postgresCase({ resellers: RESELLERS, keyed, fsync: 0 }),
          reseller.name,
          "per second",
        );
      return quotient(on(true), on(false));
    },
  },
  ...[
    { resellers: 1, keyed: false, atLeast: 10 },
    { resellers: RESELLERS, keyed: false, atLeast: 7 },
    { resellers: RESELLERS, keyed: true, atLeast: 5 },
  ].flatMap(({ atLeast, ...each }) =>
    FSYNCS_MILLISECONDS.map((fsync): Bar => {
      const what = postgresCase({ ...each, fsync });
      const [peer, ours] = [fastifyPostgres.name, resellerOnPostgres.name];
      return {
        what: `${ours} against ${peer}, ${what}`,
        atLeast,
        measure: ratio("postgres", what, "per second", peer, ours),
      };
    }),
  ),
  {
    what: `read p99 (ms), 4 ms fsync, ${READS_MEANWHILE}`,
    atMost: 3,
    measure: (results) => results.median("disk", READS_MEANWHILE, reseller.name, "p99 ms"),
  },
  {
    what: "orders/s on 10 million orders against an empty database",
    atLeast: 0.95,
    measure: (results) => {
      const on = (orders: number) =>
        results.median("sizes", sizeOf(orders), reseller.name, "per second");
      return quotient(on(10 * MILLION), on(0));
    },
  },
  ...PAGES.map((path) => ({
    what: `panel of a million orders: ${path} (ms)`,
    atMost: 50,
    measure: (results: Results) => results.median("panel", `GET ${path}`, reseller.name, "ms"),
  })),
  {
    what: "orders/s while someone clicks through the panel",
    atLeast: 0.97,
    measure: (results) => {
      const rate = (what: string) => results.median("panel", what, reseller.name, "per second");
      return quotient(rate(CLICKED), rate(ALONE));
    },
  },
  ...[1, RESELLERS].flatMap((resellers) =>
    PORTAL_CASES.map((path) => {
      const what = portalCase(path, 128, resellers);
      const measure = ratio("portal", what, "per second", reseller.name, resellerWithPortal.name);
      return { what: `with --portal against without: ${what}`, atLeast: 0.98, measure };
    }),
  ),
  {
    what: "start to first answer (ms), no orders",
    atMost: 60,
    measure: (results) => results.median("starts", sizeOf(0), reseller.name, "ms"),
  },
  {
    what: "start to first answer (ms), a million orders",
    atMost: 60,
    measure: (results) => results.median("starts", sizeOf(MILLION), reseller.name, "ms"),
  },
  {
    what: "memory idle (MB)",
    atMost: 65,
    measure: (results) => results.median("memory", IDLE, reseller.name, "MB"),
  },
  {
    what: "memory after the load (MB)",
    atMost: 100,
    measure: (results) => results.median("memory", AFTER, reseller.name, "MB"),
  },
  ...[EMPTY, MARKET].map((what) => ({
    what: `processor without callers (% of a core), ${what}`,
    atMost: 0.3,
    measure: (results: Results) => results.median("idle", what, reseller.name, "% of a core"),
  })),
];

/** Question, measured figure, target, and whether it is met. */
export function judge(bar: readonly Bar[], results: Results): [string, string, string, string][] {
  return bar.map(({ what, atLeast, atMost, measure }) => {
    const measured = measure(results);
    const wanted = atLeast === undefined ? `≤ ${atMost}` : `≥ ${atLeast}`;
    if (measured === undefined) return [what, "-", wanted, NOT_MEASURED];
    const holds = atLeast === undefined ? measured <= atMost! : measured >= atLeast;
    return [what, figure(measured), wanted, holds ? "holds" : "MISSED"];
  });
}

/** Ours to another subject's, medians of the same case. */
function ratio(part: string, what: string, metric: Metric, other: string, ours = reseller.name) {
  return (results: Results) =>
    quotient(results.median(part, what, ours, metric), results.median(part, what, other, metric));
}

function quotient(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? undefined : a / b;
}
