// A simulated operator: mostly valid commands, sometimes ones that must be refused.

import { planCatalogue, requireProvider } from "../../../src/operations/providers/providers.ts";
import { Finding, priceOf } from "./auditor.ts";
import { decide } from "./request-actors.ts";
import { CATALOGUE, type Market } from "./market.ts";
import { attempt } from "./world.ts";

/** An order is settled only once the provider's own book can be trusted to show it. */
const SETTLE_AFTER_MS = 60_000;
/** Services with several providers. */
const ROUTED = ["a-likes", "b-pack"];

/** Alerts of providers that are active alone. */
const OF_ACTIVE = ["provider_out_of_funds", "provider_paused", "sync_held"];

type Target = "COMPLETED" | "PARTIAL" | "FAILED" | "CANCELLED" | "REFUNDED";

export function operate(market: Market): void {
  const { world, auditor } = market;
  const { chance } = world;
  if (market.webhookAuditor.endpoints().length > 0 && chance.happens(0.3)) return tend(market);
  if (chance.happens(0.3)) return keepBooks(market);
  if (chance.happens(0.25)) return decide(market);
  if (chance.happens(0.15)) return reroute(market);
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
        const replay = chance.happens(0.7);
        run("enableWebhook", { id, replay, actor });
        if (!replay) webhookAuditor.dropped(url);
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

/** Rates and their currency change, and totals are counted, as a server does once a minute. */
function keepBooks(market: Market): void {
  const { world, costAuditor, run, store } = market;
  const { chance } = world;
  const actor = { keyId: null, operator: "sim" };
  switch (chance.whole(1, 4)) {
    case 1: {
      const name = chance.pick(["a", "b"]);
      const rate = `${chance.whole(0, 3)}.${chance.whole(0, 9999)}`;
      const listed = { service: "1", name: "One", category: "c", type: "Default", rate };
      const upstream = [
        { ...listed, min: 1, max: 100_000, dripfeed: false, cancel: false, refill: false },
      ];
      const plan = store.read((reader) =>
        planCatalogue(reader, requireProvider(reader, name), upstream, { markup: "0" }),
      );
      // PostgreSQL's is there later: nothing but this waits for it.
      return void Promise.resolve(plan).then((planned) =>
        attempt(world, `operator syncs ${name} at ${rate}`, () => {
          // A service whose first route is to another one of the provider's is not in its list any more, or again.
          countOffers(market, () =>
            run("syncCatalogue", { name, upstream, markup: "0", plan: planned, actor }),
          );
          // What it does not list is passed over, and need not have refused an order.
          for (const id of ROUTED) market.auditor.routesChanged(id);
          costAuditor.synced(name, rate);
        }),
      );
    }
    case 2: {
      const rateToUsd = `1.${chance.whole(1, 9_999_999)}`;
      return attempt(world, `operator sets the rate of b to ${rateToUsd}`, () => {
        run("updateProvider", { name: "b", changes: { rateToUsd }, actor });
        costAuditor.factorSet("b", rateToUsd);
      });
    }
    default: {
      const limit = chance.whole(1, 20);
      for (let step = chance.whole(1, 5); step > 0; step -= 1) run("countDailyTotals", { limit });
    }
  }
}

/** Changes a service's routes: it is suspended with its last active provider, and offered again with the first. */
function reroute(market: Market): void {
  countOffers(market, () => rerouteOne(market));
}

/** Webhooks tell of each service that is offered no more, or again. */
function countOffers({ auditor, webhookAuditor }: Market, change: () => void): void {
  const before = auditor.offered();
  change();
  const changed = before.symmetricDifference(auditor.offered()).size;
  for (let count = changed; count > 0; count -= 1) webhookAuditor.serviceChanged();
}

/** Adds, moves or removes a route of a service, never the last one, or switches a provider off and on. */
function rerouteOne({ world, auditor, alertAuditor, run }: Market): void {
  const { chance } = world;
  const actor = { keyId: null, operator: "sim" };
  const provider = chance.pick(["a", "b", "c"]);
  if (chance.happens(0.2)) {
    const active = chance.happens(0.6);
    return attempt(world, `operator makes ${provider} ${active ? "active" : "inactive"}`, () => {
      run("setProviderActive", { name: provider, active, actor });
      auditor.deactivated(provider, active ? null : world.elapsed());
      // What ended when it became inactive may begin again.
      if (active) for (const kind of OF_ACTIVE) alertAuditor.began(kind, provider);
    });
  }
  if (chance.happens(0.2)) {
    const paused = chance.happens(0.5);
    return attempt(world, `operator ${paused ? "pauses" : "resumes"} ${provider}`, () => {
      run("setProviderPaused", { name: provider, paused, actor });
      if (paused) auditor.paused(provider);
    });
  }
  const id = chance.pick(ROUTED);
  const route = { id, provider, providerService: chance.pick(["1", "2"]) };
  const shown = `${provider}:${route.providerService}`;
  if (chance.happens(0.6)) {
    const priority = chance.happens(0.5) ? chance.whole(0, 5) : null;
    return attempt(world, `operator routes ${id} to ${shown}`, () => {
      run("putRoute", { ...route, priority, actor });
      auditor.routesChanged(id);
    });
  }
  const last = { id, provider: "c", providerService: "9", priority: null, actor };
  attempt(world, `operator routes ${id} to c:9 at last`, () => {
    run("putRoute", last);
    auditor.routesChanged(id);
  });
  attempt(world, `operator routes ${id} no more to ${shown}`, () => {
    // Without c:9, which an inactive c may have refused, it could be the last one.
    if (run("putRoute", last).length > 1) run("removeRoute", { ...route, actor });
  });
}

/** Another discount for a reseller. */
function price({ world, auditor, testAuditor, webhookAuditor, run }: Market): void {
  const { chance } = world;
  const username = chance.pick(["ana", "bob", "cleo"]);
  const discountPpm = chance.pick([0, 1, 100_000, 333_333, 999_999]);
  const actor = { keyId: null, operator: "sim" };
  attempt(world, `operator gives ${username} a discount of ${discountPpm} ppm`, () => {
    run("setDiscount", { username, discountPpm, actor });
    const before = auditor.discounted(username, discountPpm);
    testAuditor.discounted(username, discountPpm);
    // A suspended service causes no events.
    const offered = auditor.offered();
    const changed = CATALOGUE.filter(
      ({ id, priceMicros }) =>
        offered.has(id) && priceOf(priceMicros, before) !== priceOf(priceMicros, discountPpm),
    );
    for (const side of [username, `test:${username}`])
      webhookAuditor.repriced(side, changed.length);
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
    const row = auditor.rows().find((each) => each.link === link);
    const provider = row?.provider ?? "";
    const number = providers.get(provider)?.numberOf(link);
    if (!row || number === undefined) continue;
    mistakes.delete(link);
    attempt(world, `operator corrects ${link} to ${number}`, () => {
      run("settleOrder", { id: String(row.orderId), providerOrder: number, actor });
      auditor.operatorSettled(link, { provider, number });
    });
  }
}

/** What an operator paused stays so until an operator resumes it. */
export function resume({ world, run }: Market): void {
  const actor = { keyId: null, operator: "sim" };
  for (const name of ["a", "b", "c"]) {
    attempt(world, `operator resumes ${name}`, () => {
      run("setProviderPaused", { name, paused: false, actor });
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
  const provider = row.provider!;
  const number = providers.get(provider)!.numberOf(row.link);
  const other = auditor
    .rows()
    .find((taken) => taken.providerOrder !== null && taken.provider === provider)?.providerOrder;
  const isMistake = number !== undefined && chance.happens(0.2);
  const truth = isMistake ? `${chance.whole(900_000_000, 999_999_999)}` : (number ?? null);
  const providerOrder = (chance.happens(0.1) ? other : undefined) ?? truth;
  const actor = { keyId: null, operator: "sim" };
  attempt(world, `operator settles ${row.link} as ${providerOrder ?? "not placed"}`, () => {
    run("settleOrder", { id: String(row.orderId), providerOrder, actor });
    const placed = providerOrder === null ? null : { provider, number: providerOrder };
    auditor.operatorSettled(row.link, placed);
    if (isMistake && providerOrder === truth) mistakes.add(row.link);
  });
}
