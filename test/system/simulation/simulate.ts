// One simulated market from a seed: resellers order, providers fail in every way there is, operators intervene,
// the clock jumps, the process crashes between any two steps and starts again; then the failures end and every
// open order must reach a final state. An independent auditor checks the result.

import { verifyStore } from "../../support/databases/verify.ts";
import { Finding } from "./auditor.ts";
import type { Engine } from "./databases.ts";
import { audit, CATALOGUE, type Market, openMarket, SELLERS } from "./market.ts";
import { correct, operate, resume } from "./operator.ts";
import { planOrders, request } from "./orders.ts";
import { begin, crash } from "./server.ts";
import { planTests } from "./test-actors.ts";
import { createProvider } from "./upstream.ts";
import { createWorld } from "./world.ts";

const MINUTE_MS = 60_000;
/** How long resellers order and things go wrong, and how long it then takes until everything has ended. */
const TROUBLE_MS = 40 * MINUTE_MS;
const CALM_MS = 100 * MINUTE_MS;
/** One that runs out, and one that does not. */
const CREDITS_MICROS = [20_000_000, 2_000_000_000];
/** A balance that no alert is about. */
const ENOUGH = 1000;
/** Events between two audits, and in a crowd, where each takes long. */
const AUDIT_EVENTS = 150;
const CROWD_AUDIT_EVENTS = 600;
/** How often a market is a crowd. */
const CROWDED = 0.05;

export interface Outcome {
  seed: number;
  orders: number;
  /** Number of test orders. */
  tests: number;
  crashes: number;
  /** Orders that went on to another provider. */
  rerouted: number;
  /** Deliveries of webhooks, and those of them that are listed as undelivered at the end. */
  webhooks: { deliveries: number; undelivered: number };
  /** What the auditor found; null when all is well. */
  finding: string | null;
}

export async function simulate(
  seed: number,
  print?: (line: string) => void,
  engine: Engine = "sqlite",
): Promise<Outcome> {
  const world = createWorld(seed, print ?? (() => {}));
  const { chance } = world;
  const crowded = chance.happens(CROWDED);
  const creditMicros = crowded ? CREDITS_MICROS[1]! : chance.pick(CREDITS_MICROS);
  const trouble = { faults: chance.pick([0.3, 1, 2]), crashes: chance.pick([0, 0.001, 0.004]) };
  let calm = false;
  const faults = () => (calm ? 0 : trouble.faults);
  const market = openMarket(engine, world, { creditMicros, troubleMs: TROUBLE_MS, faults });
  for (const { name, currency } of SELLERS) {
    const { auditor, costAuditor: costs, requests } = market;
    const unfunded = () => market.alertAuditor.began("provider_out_of_funds", name);
    const balance = () => {
      const known = market.machine.balances.get(name) ?? ENOUGH;
      // One that was asked for before a change may be told after it: then the alert ends and begins again.
      return {
        balance: known,
        told: () => market.alertAuditor.began("provider_balance_low", name),
      };
    };
    const holds = chance.happens(0.5);
    if (holds) letOrdersWait(market, name);
    const heard = { unfunded, balance, holds };
    const setup = { name, currency, world, auditor, costs, requests, faults, ...heard };
    market.providers.set(name, createProvider(setup));
  }
  let process = begin(market, () => calm);
  let crashes = 0;
  let sinceAudit = 0;
  const orders = planOrders(market, crowded, TROUBLE_MS, () => process);
  planTests(market, {
    catalogue: CATALOGUE.slice(0, 4),
    troubleMs: TROUBLE_MS,
    server: () =>
      process.life.dead || !process.delivery ? null : { ...process, delivery: process.delivery },
  });
  for (let count = chance.whole(5, 40); count > 0; count -= 1) {
    world.later(chance.whole(0, TROUBLE_MS + CALM_MS / 4), null, () => operate(market));
  }
  // The last word of a careful operator.
  world.later(TROUBLE_MS + CALM_MS / 3, null, () => {
    correct(market);
    resume(market);
    world.idle();
  });
  for (let count = chance.whole(0, 3); count > 0; count -= 1) {
    const by = chance.whole(-2 * 60, 2 * 60) * MINUTE_MS;
    world.later(chance.whole(0, TROUBLE_MS), null, () => {
      world.trace(`the clock jumps by ${by / MINUTE_MS} minutes`);
      world.jump(by);
    });
  }
  for (let count = chance.whole(0, 40); count > 0; count -= 1) {
    const at = chance.whole(0, TROUBLE_MS + CALM_MS / 4);
    world.later(at, null, () => void request(market, process).catch(world.fail));
  }
  const afterEvent = () => {
    sinceAudit += 1;
    if (sinceAudit >= (crowded ? CROWD_AUDIT_EVENTS : AUDIT_EVENTS)) {
      sinceAudit = 0;
      audit(market);
    }
    if (calm || process.life.dead || !chance.happens(trouble.crashes)) return;
    crashes += 1;
    process = crash(
      market,
      process,
      () => calm,
      (started) => (process = started),
    );
  };
  const outcome = () => ({
    seed,
    orders,
    tests: market.testAuditor.rows().length,
    crashes,
    rerouted: market.auditor.rerouted(),
    webhooks: market.webhookAuditor.counts(),
  });
  try {
    await world.runUntil(TROUBLE_MS, afterEvent);
    await verify(market);
    calm = true;
    market.auditor.calmBegins();
    market.costAuditor.calmBegins(world.elapsed());
    await market.changesAuditor.audit();
    world.trace("calm: no more faults");
    if (process.life.dead) process = begin(market, () => calm);
    await world.runUntil(TROUBLE_MS + CALM_MS, afterEvent);
    audit(market);
    market.auditor.auditLists();
    market.testAuditor.auditEnd(world.now());
    const providers = [...market.providers.values()];
    market.requests.auditEnd((providerId, refill) =>
      providers[providerId - 1]!.hasRefillEnded(refill),
    );
    market.webhookAuditor.auditEnd(world.now());
    market.alertAuditor.auditEnd(world.now());
    mustHaveEnded(market);
    await market.changesAuditor.audit();
    market.costAuditor.auditEnd(world.elapsed());
    await market.costAuditor.auditReports(market.store, market.auditor.rows());
    await verify(market);
    return { ...outcome(), finding: null };
  } catch (error) {
    if (!(error instanceof Finding)) throw error;
    world.trace(`FOUND: ${error.message}`);
    return { ...outcome(), finding: error.message };
  } finally {
    process.life.dead = true;
    market.close();
  }
}

/** What `reseller verify` checks: whatever happened, backups must not be marked as wrong. */
async function verify({ store }: Market): Promise<void> {
  const [first] = await verifyStore({ store });
  if (first) throw new Finding(`verify: ${first.check}: ${first.subject} ${first.problem}`);
}

/** Checks that every order that was open when the faults ended has ended as its provider says. */ /** Orders that the provider refuses for lack of funds wait there: all of them, or only few. */
function letOrdersWait({ run, auditor, world: { chance } }: Market, name: string): void {
  const holdLimitMicros = chance.pick([1_000_000, 5_000_000, 500_000_000]);
  const changes = { onNoFunds: "hold", holdLimitMicros } as const;
  run("updateProvider", { name, changes, actor: { keyId: null, operator: "sim" } });
  auditor.holds(name);
}

function mustHaveEnded({ auditor, providers }: Market): void {
  for (const row of auditor.rows()) {
    const at = `order ${row.orderId} (${row.link}, ${row.status}, ${row.placement})`;
    if (row.status === "PENDING" && row.placement !== "unknown") {
      throw new Finding(`${at} was never finished`);
    }
    if (row.placement !== "placed") continue;
    const ends = [...providers.values()].flatMap((provider) => provider.endOf(row.link) ?? []);
    const [end] = ends;
    if (!end || end.nonsense) continue;
    if (row.status === "PROCESSING") throw new Finding(`${at} starved: it is ${end.meaning} there`);
  }
}
