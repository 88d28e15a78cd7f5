// A service on a fresh database, in this process, called over real HTTP.

import { Command } from "commander";
import { serveOptions, databaseOptions } from "../../../src/config/flags.ts";
import type { Config } from "../../../src/config/settings.ts";
import type { ServerDeps } from "../../../src/http/server/server.ts";
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
    trustedProxy: [],
    noteUntrustedProxy() {},
    logReads: 1,
    now: Date.now,
    readiness: createReadiness({
      writer,
      checkDatabase: () => ({}),
      isDeliveryOnTime: () => true,
      pausedProviders: () => 0,
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

/** A running service on a fresh database, or on the one given. */
export async function freshService(
  settings: Partial<typeof TEST_CONFIG> = {},
  database = freshDatabase(),
): Promise<TestService> {
  const service = await startTestService({ ...database.location, ...settings });
  return {
    ...database,
    url: service.url,
    call: (method, path, key, body, headers) =>
      callApi(service.url, method, path, key, body, headers),
    async stop() {
      await service.stop();
      database.close();
    },
  };
}
