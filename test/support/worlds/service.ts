// A service on a fresh database, in this process, called over real HTTP.

import { Command } from "commander";
import { serveOptions, databaseOptions } from "../../../src/config/flags.ts";
import type { Config } from "../../../src/config/settings.ts";
import { type ServerDeps, startServer } from "../../../src/http/server/server.ts";
import { findCallerKeyByHash } from "../../../src/db/users/keys.ts";
import { listSandboxOrders, listSandboxRefills } from "../../../src/db/orders/sandbox.ts";
import type { Clock } from "../../../src/scheduling/clock.ts";
import { startDelivery } from "../../../src/delivery/delivery.ts";
import { smmApiRoutes } from "../../../src/http/smm-api/routes.ts";
import { connectProvider } from "../../../src/providers/protocols.ts";
import type { ProviderApi } from "../../../src/providers/provider.ts";

import { responseTemplate } from "../../../src/http/server/response-template.ts";
import { createRateLimits } from "../../../src/http/server/rate-limits.ts";
import { createLog } from "../../../src/monitoring/log.ts";
import { NO_OBSERVER } from "../../../src/monitoring/observer.ts";
import { createReadiness } from "../../../src/monitoring/readiness.ts";
import type { ServerDatabase } from "../../../src/server/database.ts";
import { openPostgresDatabase } from "../../../src/server/postgres-database.ts";
import { type Service, startService } from "../../../src/server/serve.ts";
import { openSqliteDatabase } from "../../../src/server/sqlite-database.ts";
import { checkNewUrl } from "../../../src/webhooks/new-url.ts";
import { bundledThread } from "../bundles.ts";
import type { HandClock } from "../hand-clock.ts";
import { type Answer, callApi } from "../http/api.ts";
import { freshDatabase, type TestDatabase } from "../databases/test-database.ts";

/** Any name has a public address: no name server is asked. */
export const resolvePublic = () => Promise.resolve(["1.1.1.1"]);

export interface TestService extends TestDatabase {
  url: string;
  /** Calls `path` under /api/v1. A string body is sent as it is, anything else as JSON. */
  call(
    method: string,
    path: string,
    key?: string | null,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer>;
  stop(): Promise<void>;
}

export interface ClockedService extends TestService {
  clock: HandClock;
  /** The server is killed, and another one starts that long after. */
  restart(afterMs: number): Promise<void>;
}

/** How long an order waits for its provider at a service with a clock. */
export const PLACE_WAIT_MS = 10_000;

/** What `serve` runs with when nobody says anything. */
function defaultConfig(): Config {
  const command = new Command();
  for (const option of [...databaseOptions(), ...serveOptions()]) command.addOption(option);
  return command.opts<Config>();
}

/** What a service under test is set to, unless it says otherwise: nobody is limited in how often they ask. */
const { data: _, ...DEFAULTS } = defaultConfig();
export const TEST_CONFIG = {
  ...DEFAULTS,
  port: 0,
  backupEvery: 0,
  logLevel: "silent" as const,
  rateLimit: 0 as Config["rateLimit"],
};

/** What a server needs to answer requests, without anything that watches or limits them. */
export function apiOf<Parts extends Pick<ServerDatabase, "store" | "findKey" | "writer">>({
  store,
  findKey,
  writer,
}: Parts): ServerDeps & Pick<Parts, "writer"> {
  return {
    store,
    findKey,
    writer,
    log: createLog("silent"),
    observer: NO_OBSERVER,
    inFlight: new Map(),
    onInternalError() {},
    awaitProvider: (order) => Promise.resolve(order),
    limits: createRateLimits(0),
    recordKeyUse() {},
    countKeyRequest() {},
    trustedProxy: [],
    noteUntrustedProxy() {},
    logReads: 1,
    now: Date.now,
    readiness: createReadiness({
      writer,
      checkDatabase: () => ({}),
      isDeliveryOnTime: () => true,
      pausedProviders: () => 0,
      unusualSpenders: () => 0,
      checkConnections: () => ({ ok: true }),
    }),
    checkWebhookUrl: (text) => checkNewUrl(text, { allow: [], allowHttp: false }, resolvePublic),
    template: responseTemplate(false),
    operator: { brand: null, contact: null },
  };
}

/** A database as a server of its own opens it. */
export async function openServerDatabase({ location }: TestDatabase): Promise<ServerDatabase> {
  const open = location.database ? openPostgresDatabase : openSqliteDatabase;
  return open(
    { ...TEST_CONFIG, ...location, thread: await bundledThread() },
    { log: createLog("silent"), onFatal() {}, onCommit() {} },
  );
}

/** A server in this process, as `serve` starts it. */
export async function startTestService(
  settings: Partial<typeof TEST_CONFIG> & { data: string },
): Promise<Service> {
  const config = { ...TEST_CONFIG, ...settings, thread: await bundledThread() };
  return startService(config, () => {
    throw new Error("the writer died");
  });
}

export interface ServiceOptions {
  /** Default: a fresh one. */
  database?: TestDatabase;
  settings?: Partial<typeof TEST_CONFIG>;
}

export interface ClockedOptions {
  database?: TestDatabase;
  clock: HandClock;
  /** What every provider but the sandbox does; default: what its protocol says. */
  provider?: ProviderApi;
}

/** A running service, started as `serve` starts it; with a clock, one whose parts run on that. */
export function openService(options?: ServiceOptions): Promise<TestService>;
export function openService(options: ClockedOptions): Promise<ClockedService>;
export async function openService({
  database = freshDatabase(),
  ...options
}: ServiceOptions | ClockedOptions = {}): Promise<TestService> {
  if ("clock" in options) return clockedService(database, options);
  const service = await startTestService({ ...database.location, ...options.settings });
  return {
    ...database,
    url: service.url,
    call: (...call) => callApi(service.url, ...call),
    async stop() {
      await service.stop();
      database.close();
    },
  };
}

async function clockedService(
  database: TestDatabase,
  { clock, provider }: Omit<ClockedOptions, "database">,
): Promise<ClockedService> {
  let server = await startClockedServer(database, clock, "first-server", provider);
  return {
    ...database,
    get url() {
      return server.url;
    },
    call: (...call) => callApi(server.url, ...call),
    clock,
    async restart(afterMs) {
      await server.kill();
      clock.leap(afterMs);
      server = await startClockedServer(database, clock, "second-server", provider);
    },
    async stop() {
      await server.kill();
      database.close();
    },
  };
}

/** Its commands run at once and at the clock's time. */
async function startClockedServer(
  database: TestDatabase,
  clock: Clock,
  serverId: string,
  provider: ProviderApi | undefined,
) {
  let isDead = false;
  const writer = {
    async submit(name: never, input: never) {
      if (isDead) return new Promise(() => {});
      return database.execute(name, input, clock.now());
    },
  } as unknown as Parameters<typeof apiOf>[0]["writer"];
  const delivery = await startDelivery({
    store: database.store,
    serverId,
    writer,
    log: createLog("silent"),
    clock: {
      ...clock,
      timer: (callback) => clock.timer(() => isDead || callback()),
    },
    random: () => 0,
    settings: {
      placeWaitMs: PLACE_WAIT_MS,
      placeRetryMs: 3_600_000,
      pollIntervalMs: 60_000,
      pauseAfter: 0,
    },
    connect: (row) =>
      (row.protocol === "sandbox" ? undefined : provider) ??
      connectProvider(row, 1000, {
        now: () => clock.now(),
        orders: async (numbers) => database.read((reader) => listSandboxOrders(reader, numbers)),
        refills: async (numbers) => database.read((reader) => listSandboxRefills(reader, numbers)),
      }),
  });
  const api = apiOf({
    store: database.store,
    findKey: (hash) => database.read((reader) => findCallerKeyByHash(reader, hash)),
    writer,
  });
  const deps = {
    ...api,
    awaitProvider: (order: Parameters<typeof api.awaitProvider>[0]) =>
      delivery.awaitProvider(order),
  };
  const server = startServer(deps, { hostname: "127.0.0.1", port: 0 }, null, {
    routes: smmApiRoutes(deps),
  });
  const url = `http://127.0.0.1:${server.port}`;
  return {
    url,
    /** Without a word to the database. */
    async kill() {
      isDead = true;
      void delivery.stop(0);
      await server.stop();
    },
  };
}
