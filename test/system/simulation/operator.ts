// A simulated operator: mostly valid commands, sometimes ones that must be refused.

import { Refusal } from "../../../src/domain/refusals.ts";
import { Finding, priceOf } from "./auditor.ts";
import { CATALOGUE, type Market } from "./simulate.ts";

/** An order is settled only once the provider's own book can be trusted to show it. */
const SETTLE_AFTER_MS = 60_000;

type Target = "COMPLETED" | "PARTIAL" | "FAILED" | "CANCELLED" | "REFUNDED";

export function operate(market: Market): void {
  const { world, auditor } = market;
  const { chance } = world;
  if (market.webhookAuditor.endpoints().length > 0 && chance.happens(0.3)) return tend(market);
  if (chance.happens(0.15)) return price(market);
  const rows = auditor.rows();
  if (rows.length === 0) return;
  if (chance.happens(0.2)) return decideLate(market, rows);
  if (chance.happens(0.2)) return correct(market);
  const unknown = rows.filter((row) => row.status === "PENDING" && row.placement === "unknown");
  if (unknown.length > 0 && chance.happens(0.6)) settle(market, chance.pick(unknown));
  else move(market, chance.pick(rows));
}

type Row = ReturnType<Market["auditor"]["rows"]>[number];

/** Looks after endpoints, credits and services. */
function tend({ world, auditor, webhookAuditor, run }: Market): void {
  const { chance } = world;
  const actor = { keyId: null, operator: "sim" };
  const { id, url, reseller } = chance.pick(webhookAuditor.endpoints());
  switch (chance.whole(1, 5)) {
    case 1:
      return attempt(world, `operator credits ${reseller}`, () => {
        // The same reference is always of the same amount, as in a script that runs twice.
        const number = chance.whole(1, 4);
        const [amountMicros, reference] = [number * 1_000_003, `r${number}`];
        const { earlier } = run("creditUser", {
          username: reseller,
          amountMicros,
          note: "own",
          reference,
          actor,
        });
        const isFirst = auditor.creditedOnce(reseller, reference, amountMicros);
        if (isFirst !== (earlier === null)) throw new Finding(`${reseller} ${reference} ran twice`);
        if (isFirst) webhookAuditor.credited(reseller);
      });
    case 2:
      return attempt(world, "operator changes a service", () => {
        const max = chance.whole(50_000, 99_999) + 100_000 * webhookAuditor.serviceChanged();
        run("updateService", { id: "manual", changes: { max }, actor });
      });
    case 3:
      return attempt(world, `operator enables ${url}`, () => {
        run("enableWebhook", { id, replay: chance.happens(0.7), actor });
      });
    case 4:
      return attempt(world, `operator rotates the secret of ${url}`, () => {
        const secret = `whsec_${Buffer.alloc(32, chance.whole(0, 255)).toString("base64")}`;
        run("rotateWebhook", { id, secret, graceMs: chance.pick([0, 600_000]), actor });
      });
    default:
      return attempt(world, `operator replays ${url}`, () => {
        const since = world.now() - chance.whole(0, 3_600_000);
        run("replayWebhook", { id, what: { since }, actor });
      });
  }
}

/** Another discount for a reseller. */
function price({ world, auditor, webhookAuditor, run }: Market): void {
  const { chance } = world;
  const username = chance.pick(["ana", "bob", "cleo"]);
  const discountPpm = chance.pick([0, 1, 100_000, 333_333, 999_999]);
  const actor = { keyId: null, operator: "sim" };
  attempt(world, `operator gives ${username} a discount of ${discountPpm} ppm`, () => {
    run("setDiscount", { username, discountPpm, actor });
    const before = auditor.discounted(username, discountPpm);
    const changed = CATALOGUE.filter(
      ({ priceMicros }) => priceOf(priceMicros, before) !== priceOf(priceMicros, discountPpm),
    );
    webhookAuditor.repriced(username, changed.length);
  });
}

/** Accepts or dismisses what was reported of an order that has ended; most have nothing to decide. */
function decideLate({ world, auditor, run }: Market, rows: readonly Row[]): void {
  const { chance } = world;
  const actor = { keyId: null, operator: "sim" };
  const ended = rows.filter(({ status }) => status === "COMPLETED" || status === "PARTIAL");
  for (const { link, orderId } of ended) {
    const id = String(orderId);
    if (chance.happens(0.3)) {
      attempt(world, `operator dismisses what came late of ${link}`, () =>
        run("dismissLateReports", { id, note: null, actor }),
      );
    } else {
      attempt(world, `operator accepts what came late of ${link}`, () => {
        const { status } = run("acceptLateReport", { id, remains: null, note: null, actor });
        auditor.operatorAccepted(link, status);
      });
    }
  }
}

/** Puts right what was settled under a number that the provider never gave. */
export function correct({ world, auditor, run, providers, mistakes }: Market): void {
  const actor = { keyId: null, operator: "sim" };
  for (const link of mistakes) {
    const [providerOrder] = [...providers.values()].flatMap((each) => each.numberOf(link) ?? []);
    const row = auditor.rows().find((each) => each.link === link);
    if (providerOrder === undefined || !row) continue;
    mistakes.delete(link);
    attempt(world, `operator corrects ${link} to ${providerOrder}`, () => {
      run("settleOrder", { id: String(row.orderId), providerOrder, actor });
      auditor.operatorSettled(link, providerOrder);
    });
  }
}

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
function settle({ world, auditor, run, providers, sentAt, mistakes }: Market, row: Row): void {
  const { chance } = world;
  if (world.elapsed() - (sentAt.get(row.link) ?? 0) < SETTLE_AFTER_MS) return;
  const numbers = [...providers.values()].flatMap((provider) => provider.numberOf(row.link) ?? []);
  const other = auditor
    .rows()
    .find(
      (taken) => taken.providerOrder !== null && taken.providerId === row.providerId,
    )?.providerOrder;
  const isMistake = numbers.length > 0 && chance.happens(0.2);
  const truth = isMistake ? `${chance.whole(900_000_000, 999_999_999)}` : (numbers[0] ?? null);
  const providerOrder = (chance.happens(0.1) ? other : undefined) ?? truth;
  const actor = { keyId: null, operator: "sim" };
  attempt(world, `operator settles ${row.link} as ${providerOrder ?? "not placed"}`, () => {
    run("settleOrder", { id: String(row.orderId), providerOrder, actor });
    auditor.operatorSettled(row.link, providerOrder);
    if (isMistake && providerOrder === truth) mistakes.add(row.link);
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
