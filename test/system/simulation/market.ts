// A simulated market at its beginning: resellers with keys and endpoints, providers, services with routes, and the auditors,
// which have seen all of that.

import type { ReadStore } from "../../../src/db/port/port.ts";
import type {
  CommandInput,
  CommandName,
  CommandOutput,
} from "../../../src/operations/batch/commands.ts";
import { type AlertAuditor, createAlertAuditor } from "./alert-auditor.ts";
import { type Asked, type Auditor, createAuditor } from "./auditor.ts";
import { type ChangesAuditor, createChangesAuditor } from "./changes-auditor.ts";
import { type CostAuditor, createCostAuditor } from "./cost-auditor.ts";
import { type Engine, openMarketDatabase } from "./databases.ts";
import { addEndpoints } from "./endpoints.ts";
import { addAlerts, createMachine, type Machine } from "./machine.ts";
import { createReceivers } from "./receivers.ts";
import { createRequestAuditor, type RequestAuditor } from "./request-auditor.ts";
import { openTestSides, type Program } from "./test-actors.ts";
import { createTestAuditor, type TestAuditor } from "./test-auditor.ts";
import { type SoldAs, TYPED_SERVICES } from "./typed-market.ts";
import type { SimulatedProvider } from "./upstream.ts";
import { createWebhookAuditor, type WebhookAuditor } from "./webhook-auditor.ts";
import type { World } from "./world.ts";

const PROVIDER_KEY = "simulated-key";

export interface Catalogue {
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
/** Without a rate to USD, and with one that operators change. */
export const SELLERS = [
  { name: "a", currency: "USD", rateToUsd: "1" },
  { name: "b", currency: "EUR", rateToUsd: "1.0833333" },
  { name: "c", currency: "USD", rateToUsd: "1" },
];
export const RESELLERS = ["ana", "bob", "cleo"];

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
  /** The resellers' key ids, by username. */
  keyIds: Map<string, string>;
  /** The programs of resellers with test keys. */
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

export interface MarketTerms {
  /** Each reseller's first credit. */
  creditMicros: number;
  /** How long things go wrong. */
  troubleMs: number;
  faults: () => number;
}

export function openMarket(
  engine: Engine,
  world: World,
  { creditMicros, troubleMs, faults }: MarketTerms,
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
    keyIds: new Map(),
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
  addResellers(market, creditMicros);
  addProviders(market);
  addServices(market);
  for (const username of RESELLERS) addEndpoints(market, username, creditMicros);
  const resellers = RESELLERS.map((username) => ({
    username,
    keyId: market.keyIds.get(username)!,
  }));
  market.programs = openTestSides(market, resellers, creditMicros);
  addAlerts(market, troubleMs);
  for (const { isDead, url } of webhookAuditor.endpoints()) if (isDead) dead.add(url);
  return market;
}

const actor = { keyId: null, operator: "sim" };

function addResellers({ run, auditor, keyIds }: Market, creditMicros: number): void {
  for (const username of RESELLERS) {
    run("createUser", { username, name: username, parent: null, actor });
    run("creditUser", { username, amountMicros: creditMicros, note: null, actor });
    auditor.credited(username, creditMicros);
    const { id } = run("createKey", {
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
}

function addProviders({ run, costAuditor }: Market): void {
  for (const { name, currency, rateToUsd } of SELLERS) {
    const provider = { name, protocol: "smm-api", url: "http://127.0.0.1:1/", key: PROVIDER_KEY };
    const terms = rateToUsd === "1" ? {} : { rateToUsd, currency };
    run("createProvider", { ...provider, ...terms, actor });
    costAuditor.provider(name, currency, rateToUsd);
  }
}

function addServices({ run, auditor }: Market): void {
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
    run("createService", { ...service, ...bounds, name: id, ...link, actor });
    for (const route of further) run("putRoute", { id, ...route, priority: null, actor });
    auditor.routed(id, routes);
  }
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

export function audit(market: Market): void {
  market.auditor.audit();
  market.testAuditor.audit();
  market.requests.audit();
  market.webhookAuditor.audit();
  market.costAuditor.audit();
  market.alertAuditor.audit();
}
