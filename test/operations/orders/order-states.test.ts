// Every state of an order against every event: refused without a change, or done and valid. Judges are `verify` and an
// audit of the money that shares no code with the service.

import { describe, expect, test } from "bun:test";
import { Refusal } from "../../../src/domain/values/error-table.ts";
import { auditStore } from "../../support/databases/audit.ts";
import { CHANGES, EVENTS, openReached, type StateShop, type Subject } from "./order-states.ts";
import type { Engine } from "../../support/databases/engine.ts";
import { ENGINES } from "../../support/databases/stores.ts";
import { verifyStore } from "../../support/databases/verify.ts";

/** The events that follow a change of the market: all of them would take minutes. */
const AFTER_CHANGES = ["allRefuse", "cancel", "endRefused", "notSent", "attemptAccepted"];

const CELLS = Object.keys(CHANGES).flatMap((change) =>
  (change === "none" ? Object.keys(EVENTS) : AFTER_CHANGES).map(
    (event) => [change, event] as const,
  ),
);

/** On PostgreSQL a cell takes seconds: some are tried again. That both engines do the same is what test/db/port/model.test.ts holds. */
const CELLS_ON_POSTGRES = [
  ["none", "endRefused"],
  ["the first provider is deactivated", "attemptAccepted"],
] as const;
const cellsOn = (engine: Engine) => (engine === "sqlite" ? CELLS : CELLS_ON_POSTGRES);

/** What of an order could be changed by a command that was refused. */
async function contentOf({ store }: StateShop, { orderId }: Subject): Promise<unknown> {
  const count = (rows: string) => `(SELECT count(*) FROM ${rows})`;
  const states = ["requested", "sent", "accepted", "declined", "done"];
  const [row] = await store.query(`SELECT orders.*, balance_micros,
      ${["transfers", "order_events", "audit", "order_costs", "late_reports", "attempts WHERE outcome <> 'sending'", "attempts"].map(count).join(" || ' ' || ")} AS rows,
      ${states.map((state) => count(`order_requests WHERE state = '${state}'`)).join(" || ' ' || ")} AS requests
    FROM orders JOIN users ON account = reseller_account WHERE order_id = ${orderId}`);
  return row;
}

/** A sentence for each cell that broke, or that was refused and changed something anyway. */
async function meet(shop: StateShop, subject: Subject, state: string, event: string) {
  const before = await contentOf(shop, subject);
  try {
    await EVENTS[event]!(shop, subject);
    return [];
  } catch (error) {
    if (!(error instanceof Refusal)) return [`${state}: ${event} broke: ${String(error)}`];
  }
  // The second of two requests is refused, the first may have been taken.
  if (event === "cancelTwice" || event === "resendTwice") return [];
  const isSame = Bun.deepEquals(await contentOf(shop, subject), before);
  return isSame ? [] : [`${state}: ${event} was refused and changed something`];
}

/** Orders on a route that has refused them: there are none. */
const STRANDED = `SELECT orders.order_id FROM orders JOIN attempts
    ON attempts.order_id = orders.order_id AND attempts.provider_id = orders.provider_id
      AND attempts.provider_service = orders.provider_service
  WHERE placement = 'queued' AND outcome = 'refused'`;

async function problemsOf({ store }: StateShop, states: ReadonlyMap<number, string>) {
  const found = (await verifyStore({ store })).map(({ check, subject, problem }) => {
    const orderId = Number(/^order (\d+)$/.exec(subject)?.[1]);
    return `${states.get(orderId) ?? subject}: ${check}: ${problem}`;
  });
  for (const { order_id: id } of await store.query(STRANDED)) {
    found.push(`${states.get(Number(id))}: it is on a route that has refused it`);
  }
  return [...found, ...Object.entries(await auditStore(store)).map((each) => JSON.stringify(each))];
}

/** Those that the schema allows: docs/specification/delivery.md#delivery-states. */
const PLACEMENTS: Record<string, string> = {
  PENDING: "queued sending unknown",
  PROCESSING: "manual placed",
  COMPLETED: "manual placed",
  PARTIAL: "manual placed",
  FAILED: "expired manual placed refused",
  CANCELLED: "manual placed queued unknown",
  REFUNDED: "manual placed",
};

test("the states include every status with every placement that it can have", async () => {
  const { shop } = await openReached("sqlite");
  const rows = await shop.store.query(
    "SELECT DISTINCT status, placement FROM orders ORDER BY 1, 2",
  );
  const reached = Map.groupBy(rows, ({ status }) => String(status));
  const found = [...reached].map(([status, all]) => [
    status,
    all.map(({ placement }) => String(placement)).join(" "),
  ]);
  expect(Object.fromEntries(found)).toEqual(PLACEMENTS);
  await shop.store.close();
});

describe.each(ENGINES)("on %s", (engine) => {
  test.each(cellsOn(engine))(
    "after %s, %s: each of all states refuses it unchanged, or is valid",
    async (change, event) => {
      const { shop, subjects } = await openReached(engine);
      const states = new Map([...subjects].map(([state, { orderId }]) => [orderId, state]));
      await CHANGES[change]!(shop, [...subjects.values()]);
      const problems = [];
      for (const [state, subject] of subjects)
        problems.push(...(await meet(shop, subject, state, event)));
      problems.push(...(await problemsOf(shop, states)));
      // What comes next, hours later and after another crash, is valid as well.
      await CHANGES["two hours pass"]!(shop, []);
      await CHANGES["the server crashes"]!(shop, []);
      for (const [state, subject] of subjects) {
        problems.push(...(await meet(shop, subject, state, "requestSending")));
        problems.push(...(await meet(shop, subject, state, "begin")));
      }
      problems.push(...(await problemsOf(shop, states)));
      expect(problems).toEqual([]);
      await shop.store.close();
    },
  );
});
