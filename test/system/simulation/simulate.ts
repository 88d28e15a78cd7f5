// One simulated market from a seed: resellers order, providers fail in every way there is, operators intervene,
// the clock jumps, the process crashes between any two steps and starts again; then the failures end and every
// open order must reach a final state. An independent auditor checks the result.

import { OutcomeUnknownError, type ReadStore } from "../../../src/db/port.ts";
import { listSandboxOrders, listSandboxRefills } from "../../../src/db/sandbox.ts";
import type { Order } from "../../../src/db/orders.ts";
import { placementOf } from "../../../src/domain/deliveries.ts";
import { Refusal, refusal } from "../../../src/domain/refusals.ts";
import { type DeliveryService, startDelivery } from "../../../src/delivery/delivery.ts";
import type { CommandInput, CommandName, CommandOutput } from "../../../src/operations/commands.ts";
import type { SandboxDeps } from "../../../src/providers/provider.ts";
import { sandbox } from "../../../src/providers/sandbox.ts";
import { smmApi } from "../../../src/providers/smm-api.ts";
import type { Writer } from "../../../src/writer/writer.ts";
import { startAlerts } from "../../../src/webhooks/alerts.ts";
import { startWebhooks } from "../../../src/webhooks/worker.ts";
import { type AlertAuditor, createAlertAuditor } from "./alert-auditor.ts";
import { addAlerts, createMachine, type Machine } from "./machine.ts";
import { type Asked, type Auditor, createAuditor, Finding } from "./auditor.ts";
import { type CostAuditor, createCostAuditor } from "./cost-auditor.ts";
import { type ChangesAuditor, createChangesAuditor } from "./changes-auditor.ts";
import { type Engine, openMarketDatabase } from "./databases.ts";
import { addEndpoints } from "./endpoints.ts";
import { correct, operate } from "./operator.ts";
import { createReceivers } from "./receivers.ts";
import { makeRequest } from "./request-actors.ts";
import { createRequestAuditor, type RequestAuditor } from "./request-auditor.ts";
import { openTestSides, planTests, type Program } from "./test-actors.ts";
import { createTestAuditor, type TestAuditor } from "./test-auditor.ts";
import {
  pickTyped,
  type SoldAs,
  TYPED_SERVICES,
  type TypedOrder,
  typedOrder,
} from "./typed-market.ts";
import { createProvider, type SimulatedProvider } from "./upstream.ts";
import { createWebhookAuditor, type WebhookAuditor } from "./webhook-auditor.ts";
import { createWorld, type Life, type World } from "./world.ts";

const MINUTE_MS = 60_000;
/** How long resellers order and things go wrong, and how long it then takes until everything has ended. */
const TROUBLE_MS = 40 * MINUTE_MS;
const CALM_MS = 100 * MINUTE_MS;
const SETTINGS = {
  placeWaitMs: 10_000,
  placeRetryMs: 15 * MINUTE_MS,
  pollIntervalMs: 20_000,
};
const PROVIDER_KEY = "simulated-key";
/** One that runs out, and one that does not. */
const CREDITS_MICROS = [20_000_000, 2_000_000_000];
/** Events between two audits, and in a crowd, where each takes long. */
const AUDIT_EVENTS = 150;
const CROWD_AUDIT_EVENTS = 600;
/** A market in which one question cannot name all open orders. */
const CROWD_ORDERS = 160;
/** How often a connection to the database is lost in a COMMIT that was made. */
const OUTCOME_UNTOLD = 0.003;
/** How often a market is one. */
const CROWDED = 0.05;

export interface Outcome {
  seed: number;
  orders: number;
  /** Of test keys. */
  tests: number;
  crashes: number;
  /** Orders that went on to another provider. */
  rerouted: number;
  /** Deliveries of webhooks, and those of them that are listed as undelivered at the end. */
  webhooks: { deliveries: number; undelivered: number };
  /** What the auditor found; null when all is well. */
  finding: string | null;
}

interface Catalogue {
  id: string;
  priceMicros: number;
  per: Asked["per"];
  /** Its providers, `name:service`, in the order in which they are tried; none: it is manual. */
  routes: readonly string[];
  type: SoldAs["type"];
  dripfeed: boolean;
}

const PLAIN = { type: "default", dripfeed: false } as const;
export const CATALOGUE: readonly Catalogue[] = [
  { id: "a-likes", priceMicros: 2_320_001, per: "1000", routes: ["a:1", "b:1", "c:1"], ...PLAIN },
  { id: "a-views", priceMicros: 7, per: "1", routes: ["a:1"], ...PLAIN },
  { id: "b-pack", priceMicros: 333_333, per: "order", routes: ["b:1", "b:2", "a:1"], ...PLAIN },
  { id: "manual", priceMicros: 1_000_003, per: "1000", routes: [], ...PLAIN },
  ...TYPED_SERVICES,
];
/** How often an order is of a service that is not one of the first four. */
const TYPED = 0.4;
/** Without a rate to USD, and with one that operators change. */
const SELLERS = [
  { name: "a", currency: "USD", rateToUsd: "1" },
  { name: "b", currency: "EUR", rateToUsd: "1.0833333" },
  { name: "c", currency: "USD", rateToUsd: "1" },
];
const RESELLERS = ["ana", "bob", "cleo"];
/** Commands that mostly find nothing to do. */
const UNTRACED: ReadonlySet<CommandName> = new Set([
  "takeDuePolls",
  "takeDueRefills",
  "takeDueWebhookDeliveries",
]);

/** Everything of one market. */
export interface Market {
  world: World;
  store: ReadStore;
  close(): void;
  auditor: Auditor;
  requests: RequestAuditor;
  webhookAuditor: WebhookAuditor;
  costAuditor: CostAuditor;
  alertAuditor: AlertAuditor;
  testAuditor: TestAuditor;
  changesAuditor: ChangesAuditor;
  /** Of resellers with test keys. */
  programs: readonly Program[];
  /** What alerts are told of besides the database. */
  machine: Machine;
  receivers: ReturnType<typeof createReceivers>;
  /** Starts of the process. */
  starts: number;
  providers: Map<string, SimulatedProvider>;
  /** When each order was last sent: an operator looks later than that. */
  sentAt: Map<string, number>;
  /** Orders that were settled under a number that no provider gave. */
  mistakes: Set<string>;
  run: <Name extends CommandName>(name: Name, input: CommandInput<Name>) => CommandOutput<Name>;
  /** What the command wrote is taken back. */
  fail: <Name extends CommandName>(name: Name, input: CommandInput<Name>) => void;
}

interface Process {
  life: Life;
  writer: Pick<Writer, "submit">;
  delivery: DeliveryService | null;
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
  const market = openMarket(engine, world, creditMicros, faults);
  for (const { name, currency } of SELLERS) {
    const { auditor, costAuditor: costs, requests } = market;
    const unfunded = () => market.alertAuditor.began("provider_out_of_funds", name);
    const setup = { name, currency, world, auditor, costs, requests, unfunded, faults };
    market.providers.set(name, createProvider(setup));
  }
  let process = begin(market, () => calm);
  let crashes = 0;
  let sinceAudit = 0;
  const orders = planOrders(market, crowded, () => process);
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

function audit(market: Market): void {
  market.auditor.audit();
  market.testAuditor.audit();
  market.requests.audit();
  market.webhookAuditor.audit();
  market.costAuditor.audit();
  market.alertAuditor.audit();
}

function openMarket(
  engine: Engine,
  world: World,
  creditMicros: number,
  faults: () => number,
): Market {
  const database = openMarketDatabase(engine);
  const auditor = createAuditor(database);
  const requests = auditedRequests(createRequestAuditor(database), auditor);
  const webhookAuditor = createWebhookAuditor(database);
  const costAuditor = createCostAuditor(database);
  const alertAuditor = createAlertAuditor(database);
  const auditorOf = (url: string) => (alertAuditor.isEndpoint(url) ? alertAuditor : webhookAuditor);
  const received: WebhookAuditor["received"] = (url, id, body) =>
    auditorOf(url).received(url, id, body);
  const accepted: WebhookAuditor["accepted"] = (url, id) => auditorOf(url).accepted(url, id);
  const gone = (url: string) => {
    const found = webhookAuditor.endpoints().find((each) => each.url === url);
    const isLive = found && !found.reseller.startsWith("test:");
    if (isLive) alertAuditor.began("webhook_disabled", found.id);
  };
  const dead = new Set<string>();
  const market: Market = {
    world,
    store: database.store,
    close: () => database.close(),
    auditor,
    requests,
    webhookAuditor,
    costAuditor,
    alertAuditor,
    testAuditor: createTestAuditor(database),
    changesAuditor: createChangesAuditor(database.store, database, RESELLERS),
    programs: [],
    machine: createMachine(world),
    receivers: createReceivers({ world, auditor: { received, accepted, gone }, faults }, dead),
    starts: 0,
    providers: new Map(),
    sentAt: new Map(),
    mistakes: new Set(),
    run: (name, input) => database.execute(name, input, world.now()),
    fail: (name, input) => database.fail(name, input, world.now()),
  };
  const actor = { keyId: null, operator: "sim" };
  for (const username of RESELLERS) {
    market.run("createUser", { username, name: username, parent: null, actor });
    market.run("creditUser", { username, amountMicros: creditMicros, note: null, actor });
    auditor.credited(username, creditMicros);
    const { id } = market.run("createKey", {
      username,
      type: "full",
      reach: "all",
      label: "",
      hash: username.padEnd(64, "0"),
      start: "rk_",
      actor,
    });
    keyIds.set(username, id);
  }
  for (const { name, currency, rateToUsd } of SELLERS) {
    const provider = { name, protocol: "smm-api", url: "http://127.0.0.1:1/", key: PROVIDER_KEY };
    const terms = rateToUsd === "1" ? {} : { rateToUsd, currency };
    market.run("createProvider", { ...provider, ...terms, actor });
    costAuditor.provider(name, currency, rateToUsd);
  }
  for (const { routes, ...service } of CATALOGUE) {
    const [first, ...further] = routes.map((route) => {
      const [provider, providerService] = route.split(":") as [string, string];
      return { provider, providerService };
    });
    const link = first
      ? { provider: { name: first.provider, service: first.providerService } }
      : {};
    const bounds = { min: 1, max: 100_000, private: false, cancel: true, refill: true };
    const { id } = service;
    market.run("createService", { ...service, ...bounds, name: id, ...link, actor });
    for (const route of further) market.run("putRoute", { id, ...route, priority: null, actor });
    auditor.routed(id, routes);
  }
  for (const username of RESELLERS) addEndpoints(market, username, creditMicros);
  const resellers = RESELLERS.map((username) => ({ username, keyId: keyIds.get(username)! }));
  market.programs = openTestSides(market, resellers, creditMicros);
  addAlerts(market, TROUBLE_MS);
  for (const { isDead, url } of webhookAuditor.endpoints()) if (isDead) dead.add(url);
  return market;
}

const keyIds = new Map<string, string>();

/** Starts a process on the market's database, as `serve` does. */
function begin(market: Market, isCalm: () => boolean): Process {
  const { world, store } = market;
  const life: Life = { dead: false };
  const process: Process = {
    life,
    writer: writerOf(market, life, isCalm, () => process.delivery?.ticker.wake()),
    delivery: null,
  };
  world.trace("the process starts");
  const log = {
    info: (fields: object, message: string) =>
      world.trace(`info ${message} ${JSON.stringify(fields)}`),
    warn: (fields: object, message: string) =>
      world.trace(`warn ${message} ${JSON.stringify(fields)}`),
    error: (fields: object, message: string) =>
      world.trace(`error ${message} ${JSON.stringify(fields)}`),
  };
  const deps = {
    store,
    serverId: `start ${(market.starts += 1)}`,
    writer: process.writer,
    log,
    clock: world.clockOf(life),
    random: () => world.chance.number(),
    settings: SETTINGS,
    connect: ({ name, key, protocol }: { name: string; key: string; protocol: string }) =>
      protocol === "sandbox"
        ? sandbox(sandboxOf(market))
        : smmApi(trackSends(market, market.providers.get(name)!.send(life)), key),
  };
  const start = () =>
    startDelivery(deps).then(
      (delivery) => {
        process.delivery = delivery;
        const { ticker } = delivery;
        const send = market.receivers.send(life);
        startWebhooks({ ...deps, ticker, send });
        startAlerts({
          ...deps,
          ticker,
          send,
          writer: { ...process.writer, isWritable: () => true },
          isLeader: () => true,
          machine: () => market.machine.facts(),
          lateness: () => delivery.lateness(),
        });
      },
      // The database was not there yet: a supervisor starts it again.
      () => world.later(1000, life, start),
    );
  void start();
  return process;
}

/** The service's own: it is no provider outside. */
function sandboxOf({ world, store }: Market): SandboxDeps {
  return {
    now: () => world.now(),
    orders: async (numbers) => store.read((reader) => listSandboxOrders(reader, numbers)),
    refills: async (numbers) => store.read((reader) => listSandboxRefills(reader, numbers)),
  };
}

function trackSends(
  { sentAt, world, testAuditor }: Market,
  send: ReturnType<SimulatedProvider["send"]>,
): ReturnType<SimulatedProvider["send"]> {
  return (form, options) => {
    testAuditor.sent(form);
    if (form["action"] === "add") {
      sentAt.set(form["link"]!, world.elapsed());
      world.trace(`add ${form["link"]} for ${form["quantity"]}`);
    }
    // The service takes what is found here for an internal error.
    const reply = send(form, options);
    void reply.catch(world.fail);
    return reply;
  };
}

/** A writer whose commits and answers take time, so that the process can die before, between and after them. */
function writerOf(
  market: Market,
  life: Life,
  isCalm: () => boolean,
  onCommit: () => void,
): Pick<Writer, "submit"> {
  const { world } = market;
  const { chance } = world;
  return {
    submit: (name, input) =>
      new Promise((resolve, reject) => {
        world.later(chance.whole(0, 5), life, () => {
          const answer = commit(market, name, input, !isCalm() && chance.happens(0.01));
          const isUntold = !isCalm() && chance.happens(OUTCOME_UNTOLD);
          world.later(chance.whole(0, 5), life, () => {
            onCommit();
            if (answer instanceof Error) reject(answer);
            else if (isUntold) reject(new OutcomeUnknownError(name));
            else resolve(answer.output);
          });
        });
      }),
  };
}

function commit<Name extends CommandName>(
  { run, fail, world }: Market,
  name: Name,
  input: CommandInput<Name>,
  isUnavailable: boolean,
): { output: CommandOutput<Name> } | Error {
  const text = JSON.stringify(input);
  const copy = () => JSON.parse(text) as CommandInput<Name>;
  try {
    if (isUnavailable) {
      fail(name, copy());
      return refusal("service_unavailable");
    }
    const output = run(name, copy());
    if (!UNTRACED.has(name)) world.trace(`committed ${name} ${text.slice(0, 200)}`);
    return { output: JSON.parse(JSON.stringify(output)) as CommandOutput<Name> };
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw new Finding(`${name} broke: ${String(error)}`);
  }
}

/** Ends the process where it stands, and starts another one after a while. */
function crash(
  market: Market,
  process: Process,
  isCalm: () => boolean,
  started: (process: Process) => void,
): Process {
  const { world } = market;
  process.life.dead = true;
  world.trace("CRASH");
  world.later(world.chance.whole(100, 120_000), null, () => {
    // Calm has begun meanwhile, and with it another process.
    if (!isCalm()) started(begin(market, isCalm));
  });
  return process;
}

type AskedOf = Asked & { service: string; request: TypedOrder["request"] };

/** Plans what resellers order, and when. */
function planOrders(market: Market, crowded: boolean, process: () => Process): number {
  const { chance, later } = market.world;
  const count = crowded ? CROWD_ORDERS : chance.whole(5, 35);
  for (let index = 1; index <= count; index += 1) {
    const sold = chance.happens(TYPED) ? pickTyped(chance) : chance.pick(CATALOGUE.slice(0, 4));
    const service: Catalogue = crowded ? CATALOGUE[0]! : sold;
    const { request, units, form } = typedOrder(chance, service);
    const asked: AskedOf = {
      link: `t${index}`,
      reseller: chance.pick(RESELLERS),
      service: service.id,
      quantity: units,
      request,
      form,
      priceMicros: service.priceMicros,
      per: service.per,
      manual: service.routes.length === 0,
    };
    const at = crowded ? chance.whole(0, 30_000) : chance.whole(0, TROUBLE_MS);
    later(at, null, () => void order(market, process(), asked).catch(market.world.fail));
  }
  return count;
}

async function order(
  { world, auditor }: Market,
  { life, writer, delivery }: Process,
  asked: AskedOf,
): Promise<void> {
  // Nobody answers a caller while there is no process.
  if (life.dead || !delivery) return;
  auditor.asks(asked);
  const { link, service, request, reseller } = asked;
  const account = auditor.accountOf(reseller);
  const keyId = keyIds.get(reseller)!;
  try {
    const input = { resellerAccount: account, keyId, service, link, ...request };
    const placed = await writer.submit("placeOrder", input);
    const answered: Order = await delivery.placed(placed);
    world.trace(`${link} is answered ${answered.status} (${placementOf(answered.delivery)})`);
    auditor.answered(link, answered.status);
  } catch (error) {
    if (error instanceof OutcomeUnknownError)
      return world.trace(`${link} has an error for an answer`);
    if (!(error instanceof Refusal)) throw error;
    world.trace(`${link} is refused: ${error.code}`);
  }
}

/** A reseller asks for an order; nobody answers while there is no process. */
async function request(market: Market, { life, writer, delivery }: Process): Promise<void> {
  if (life.dead || !delivery) return;
  const keyOf = (reseller: string) => ({
    keyId: keyIds.get(reseller)!,
    resellerAccount: market.auditor.accountOf(reseller),
  });
  await makeRequest(market, { writer, keyOf, resellers: RESELLERS });
}

/** The auditor of orders is told of cancellations that were asked for. */
function auditedRequests(requests: RequestAuditor, auditor: Auditor): RequestAuditor {
  return {
    ...requests,
    asks(link, kind) {
      requests.asks(link, kind);
      if (kind === "cancel") auditor.cancelAsked(link);
    },
  };
}

/** What was open when the faults ended has come to its end, whatever the others did. */
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
