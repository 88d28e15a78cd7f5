// A simulated operator: mostly valid commands, sometimes ones that must be refused.

import { Refusal } from "../../../src/domain/refusals.ts";
import type { Market } from "./simulate.ts";

/** An order is settled only once the provider's own book can be trusted to show it. */
const SETTLE_AFTER_MS = 60_000;

type Target = "COMPLETED" | "PARTIAL" | "FAILED" | "CANCELLED" | "REFUNDED";

export function operate(market: Market): void {
  const { world, auditor } = market;
  const { chance } = world;
  const rows = auditor.rows();
  if (rows.length === 0) return;
  const unknown = rows.filter((row) => row.status === "PENDING" && row.placement === "unknown");
  if (unknown.length > 0 && chance.happens(0.6)) settle(market, chance.pick(unknown));
  else move(market, chance.pick(rows));
}

type Row = ReturnType<Market["auditor"]["rows"]>[number];

function move({ world, auditor, run }: Market, row: Row): void {
  const { chance } = world;
  const to = chance.pick<Target>(["COMPLETED", "PARTIAL", "FAILED", "CANCELLED", "REFUNDED"]);
  const remains = chance.whole(0, Math.ceil(row.quantity * 1.1));
  const actor = { keyId: null, operator: "sim" };
  attempt(world, `operator moves ${row.link} to ${to}`, () => {
    run("transitionOrder", { id: String(row.orderId), to, remains, note: null, actor });
    auditor.operatorMoved(row.link, to, remains);
  });
}

/** Truthfully, from the provider's book; now and then with the number of another order. */
function settle({ world, auditor, run, providers, sentAt }: Market, row: Row): void {
  const { chance } = world;
  if (world.elapsed() - (sentAt.get(row.link) ?? 0) < SETTLE_AFTER_MS) return;
  const numbers = [...providers.values()].flatMap((provider) => provider.numberOf(row.link) ?? []);
  const other = auditor
    .rows()
    .find(
      (taken) => taken.providerOrder !== null && taken.providerId === row.providerId,
    )?.providerOrder;
  const providerOrder = (chance.happens(0.1) ? other : undefined) ?? numbers[0] ?? null;
  const actor = { keyId: null, operator: "sim" };
  attempt(world, `operator settles ${row.link} as ${providerOrder ?? "not placed"}`, () => {
    run("settleOrder", { id: String(row.orderId), providerOrder, actor });
    auditor.operatorSettled(row.link, providerOrder);
  });
}

function attempt(world: Market["world"], what: string, body: () => void): void {
  try {
    body();
    world.trace(what);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    world.trace(`${what}: refused, ${error.code}`);
  }
}
