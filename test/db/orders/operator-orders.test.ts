// The operator's list of orders: every combination of filters lists what a plain filter of all orders does.

import { beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import { listOperatorOrders } from "../../../src/db/orders/operator-orders.ts";
import type { OperatorOrderFilter } from "../../../src/db/orders/operator-order-filter.ts";
import { recordAllClockSteps } from "../../../src/db/sqlite/clock-steps.ts";
import { PLACEMENTS, type Placement } from "../../../src/domain/delivery/deliveries.ts";
import { ORDER_STATUSES, type OrderStatus } from "../../../src/domain/orders/order-statuses.ts";
import { ENGINE } from "../../support/databases/engine.ts";
import { freshDatabase, type TestDatabase } from "../../support/databases/test-database.ts";

const ORDERS = 300;
const START = 1_700_000_000_000;
const MINUTE = 60_000;
/** Words of links; the last is found by no filter of another case than ASCII's. */
const LINKS = ["https://example.com/Anna", "https://example.com/bert", "ÄRGER_100%"];
/** The statuses that an order may have at each placement. */
const STATUSES: Record<Placement, readonly OrderStatus[]> = {
  manual: ["PROCESSING", "COMPLETED", "PARTIAL", "FAILED", "CANCELLED", "REFUNDED"],
  queued: ["PENDING", "CANCELLED"],
  sending: ["PENDING"],
  placed: ["PROCESSING", "COMPLETED", "PARTIAL", "FAILED", "CANCELLED", "REFUNDED"],
  refused: ["FAILED"],
  expired: ["FAILED"],
  unknown: ["PENDING", "CANCELLED"],
};

interface Row {
  orderId: number;
  id: string;
  account: number;
  service: string;
  status: OrderStatus;
  placement: Placement;
  providerId: number | null;
  providerOrder: string | null;
  link: string;
  createdAt: number;
  reference: string | null;
  late: boolean;
}

let database: TestDatabase;
let rows: Row[];

beforeAll(() => {
  database = freshDatabase();
  for (const name of ["anna", "bert", "cleo"]) database.user(name);
  for (const name of ["acme", "zeta"]) {
    const provider = { name, protocol: "smm-api", url: "http://127.0.0.1:9", key: "k" };
    database.run("createProvider", provider);
  }
  for (const id of ["likes", "views"]) database.service({ id });
  const accounts = database.query<{ account: number }>(
    "SELECT account FROM users ORDER BY account",
  );
  const random = fc.sample(fc.array(fc.nat(), { minLength: 12, maxLength: 12 }), {
    numRuns: ORDERS,
    seed: 1,
  });
  rows = random.map(([a, b, c, d, e, f, g, h], index) => {
    const placement = PLACEMENTS[a! % PLACEMENTS.length]!;
    const statuses = STATUSES[placement];
    return {
      orderId: index + 1,
      id: String(index + 1).padStart(24, "a"),
      account: accounts[b! % 3]!.account,
      service: ["likes", "views"][c! % 2]!,
      status: statuses[d! % statuses.length]!,
      placement,
      providerId: placement === "manual" ? null : 1 + (e! % 2),
      providerOrder: placement === "placed" ? String(f! % 40) : null,
      link: LINKS[g! % LINKS.length]!,
      // The clock is put back by an hour in the middle.
      createdAt: START + index * MINUTE - (index >= ORDERS / 2 ? 60 * MINUTE : 0),
      reference: h! % 3 === 0 ? `r${index % 50}` : null,
      late: h! % 5 === 0,
    };
  });
  for (const row of rows) insert(row);
  if (ENGINE === "sqlite") recordAllClockSteps(database.connection.sqlite);
});

function insert(row: Row): void {
  const isPlaced = row.placement === "placed";
  const isEnded = ["FAILED", "CANCELLED", "REFUNDED"].includes(row.status);
  const values = {
    order_id: row.orderId,
    id: row.id,
    reseller_account: row.account,
    service_id: row.service,
    service_name: row.service,
    price_micros: 1,
    per: "1",
    link: row.link,
    quantity: 10,
    charge_micros: 10,
    refunded_micros: isEnded ? 10 : 0,
    status: row.status,
    remains: 10,
    created_at: row.createdAt,
    provider_id: row.providerId,
    provider_service: row.providerId === null ? null : "7",
    placement: row.placement,
    provider_order: row.providerOrder,
    next_submit_at: row.placement === "queued" && row.status === "PENDING" ? 1 : null,
    next_poll_at: isPlaced && row.status === "PROCESSING" ? 1 : null,
    polled_at: isPlaced ? 1 : null,
    changed_at: isPlaced ? 1 : null,
    // Unique to a reseller.
    reference: row.reference,
  };
  const taken = rows.some(
    (other) =>
      other.orderId < row.orderId &&
      other.account === row.account &&
      other.reference === row.reference,
  );
  if (taken) values.reference = row.reference = null;
  const names = Object.keys(values);
  database.query(
    `INSERT INTO orders (${names.join()}) VALUES (${names.map(() => "?").join()})`,
    ...Object.values(values),
  );
  if (row.late) {
    database.query(
      `INSERT INTO late_reports (order_id, reported, status, created_at)
        VALUES (?, 'COMPLETED', 'FAILED', 1), (?, 'PARTIAL', 'FAILED', 1)`,
      row.orderId,
      row.orderId,
    );
  }
}

function matches(row: Row, filter: OperatorOrderFilter): boolean {
  const { ids, window, link, late, resellerAccount } = filter;
  const same = (["status", "service", "providerId", "placement"] as const)
    .concat(["reference", "providerOrder"] as never)
    .every((name) => filter[name] === null || filter[name] === row[name]);
  return (
    same &&
    (resellerAccount === null || row.account === resellerAccount) &&
    (!ids || ids.includes(String(row.orderId)) || ids.includes(row.id)) &&
    (!late || row.late) &&
    (!link || row.link.toLowerCase().includes(link.toLowerCase())) &&
    row.createdAt >= (window?.from ?? -Infinity) &&
    row.createdAt <= (window?.to ?? Infinity)
  );
}

function listAll(filter: OperatorOrderFilter, limit: number): number[] {
  const found: number[] = [];
  for (let below: number | null = Number.MAX_SAFE_INTEGER; below !== null;) {
    const page: ReturnType<typeof listOperatorOrders> = database.read((reader) =>
      listOperatorOrders(reader, filter, below!, limit),
    );
    expect(page.rows.length).toBeLessThanOrEqual(limit);
    found.push(...page.rows.map(({ orderId }) => orderId));
    below = page.next;
  }
  return found;
}

const orNull = <T>(values: readonly T[]) => fc.oneof(fc.constant(null), fc.constantFrom(...values));

const filters = fc.record({
  status: orNull(ORDER_STATUSES),
  service: orNull(["likes", "views", "none"]),
  providerId: fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, fc.constantFrom(1, 2)),
  placement: orNull(PLACEMENTS),
  resellerAccount: orNull([3, 4, 5]),
  late: fc.boolean(),
  link: orNull(["example", "ANNA", "rger_100%", "_"]),
  reference: fc.oneof({ weight: 4, arbitrary: fc.constant(null) }, fc.constantFrom("r3", "r17")),
  providerOrder: fc.oneof({ weight: 4, arbitrary: fc.constant(null) }, fc.constantFrom("3", "17")),
  ids: fc.oneof(
    { weight: 4, arbitrary: fc.constant(null) },
    fc.constant(["1", "17", "250", "9999", "2".padStart(24, "a"), "17".padStart(24, "a")]),
  ),
  window: fc.constantFrom(
    { from: null, to: null },
    { from: START + 20 * MINUTE, to: START + 150 * MINUTE },
    { from: START + 100 * MINUTE, to: null },
  ),
});

/** As many filters as anyone gives at once: with all of them nothing would be left to list. */
const few = fc.tuple(filters, fc.shuffledSubarray(Object.keys(BLANK()), { maxLength: 3 }));

function BLANK(): OperatorOrderFilter {
  return {
    status: null,
    service: null,
    providerId: null,
    placement: null,
    resellerAccount: null,
    late: false,
    link: null,
    reference: null,
    providerOrder: null,
    ids: null,
    window: { from: null, to: null },
  };
}

test("every combination of filters lists the matching orders, newest first, at any page size", () => {
  let most = 0;
  fc.assert(
    fc.property(few, fc.constantFrom(1, 7, 200), ([all, given], limit) => {
      const filter = { ...BLANK() } as Record<string, unknown>;
      for (const name of given) filter[name] = all[name as keyof typeof all];
      const expected = rows.filter((row) => matches(row, filter)).map(({ orderId }) => orderId);
      expect(listAll(filter, limit)).toEqual(expected.toReversed());
      if (given.length === 3 && expected.length < ORDERS / 2)
        most = Math.max(most, expected.length);
    }),
    { numRuns: 150 },
  );
  // Not all of what was compared was empty.
  expect(most).toBeGreaterThan(5);
});

test("an order is listed with the name of its reseller and its delivery", () => {
  const [order] = database.read(
    (reader) =>
      listOperatorOrders(reader, { placement: "placed" }, Number.MAX_SAFE_INTEGER, 1).rows,
  );
  const row = rows.findLast(({ placement }) => placement === "placed")!;
  expect(order).toMatchObject({
    orderId: row.orderId,
    username: ["anna", "bert", "cleo"][row.account - 3],
    delivery: { providerId: row.providerId, providerOrder: row.providerOrder },
  });
});
