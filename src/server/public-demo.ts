// A demo that anybody may use: a server on a fresh database, replaced by the next one each hour, or earlier if it has
// grown too large. The listeners stay, so that no request is lost. Nothing is sent to other servers.

import { mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { wantsColor } from "../config/flags.ts";
import type { Config } from "../config/settings.ts";
import type { Endpoint } from "../config/values.ts";
import { BODY_LIMIT_BYTES } from "../domain/values/limits.ts";
import { SECOND_MS } from "../domain/values/spans.ts";
import { createVisitorLimits } from "../http/server/visitor-limits.ts";
import { createHandover } from "../http1/handover.ts";
import { createLog, type Logger } from "../monitoring/log.ts";
import { answerCalls } from "../providers/call.ts";
import { createDemoProvider, DEMO_PROVIDER_URL } from "../providers/demo-provider.ts";
import type { Demo } from "../web/server/demo.ts";
import { lockDataDirectory } from "../storage/file/open.ts";
import { closeTargets } from "../webhooks/targets.ts";
import { readCertificate } from "./certificate.ts";
import { createConnectionPools, planOwnFiles } from "./connection-limits.ts";
import { addressOf, listen } from "./listeners.ts";
import { type Service, startService } from "./serve.ts";

/** The folders of the databases, below the data directory. */
const FOLDER = /^demo-\d+$/;
const SIZE_CHECKED_EVERY_MS = 5 * SECOND_MS;
/** Connections from one address. */
const CONNECTIONS_OF_VISITOR = 32;

export interface PublicDemoOptions {
  /** Milliseconds from one new database to the next. They begin at multiples of it since 1970. */
  every: number;
  /** A larger database is replaced before its time. */
  sizeLimitBytes: number;
  /** Returns what the sign-in pages show, with the time at which the database is replaced. */
  demoOf: (resetsAt: () => number) => Demo;
  /** Fills a new database before visitors see it. */
  fill: (config: Config, url: string) => Promise<void>;
  /** Credits what visitors have spent. Called every few seconds. */
  topUp: (config: Config) => Promise<void>;
  /** Called after a fatal database error. */
  end: () => void;
}

/** Starts the demo; resolves once its first database is filled. `config.panelListen` must be set. */
export async function startPublicDemo(
  config: Config,
  { every, sizeLimitBytes, demoOf, fill, topUp, end }: PublicDemoOptions,
): Promise<Service> {
  const log = createLog(config.logLevel, config.logFormat, wantsColor());
  closeTargets();
  const limited = { ...config, maxConnectionsPerAddress: CONNECTIONS_OF_VISITOR };
  // The databases of another demo that runs here must not be removed.
  const release = lockDataDirectory(config.data);
  let stage: ReturnType<typeof openStage>;
  try {
    stage = openStage(limited, log);
  } catch (error) {
    release();
    throw error;
  }
  const addresses = { api: stage.api.address, panel: stage.panel.address };
  removeWorlds(config.data);
  let at = 0;
  let resetsAt = 0;
  const demo = demoOf(() => resetsAt);

  const begin = async () => {
    const data = join(config.data, `demo-${++at}`);
    mkdirSync(data, { recursive: true, mode: 0o700 });
    const own = Object.freeze({ ...limited, data });
    // A new one remembers no order that earlier visitors have cancelled.
    answerCalls(DEMO_PROVIDER_URL, createDemoProvider(), true);
    let service: Service | null = null;
    try {
      service = await startService(own, end, [], { demo, stage: addresses });
      await fill(own, service.url);
    } catch (error) {
      await service?.stop();
      rmSync(data, { recursive: true, force: true });
      throw error;
    }
    resetsAt = (Math.floor(Date.now() / every) + 1) * every;
    stage.api.switch();
    stage.panel.switch();
    return { own, service };
  };

  let current = await begin().catch(async (error) => {
    await Promise.all([stage.api.stop(), stage.panel.stop()]);
    release();
    throw error;
  });
  /** What runs at the moment: a replacement or a credit. */
  let busy: Promise<void> | null = null;
  const replace = async () => {
    const before = current;
    try {
      current = await begin();
    } catch (error) {
      resetsAt = Date.now() + SIZE_CHECKED_EVERY_MS;
      return log.error({ error: String(error) }, "demo: the database could not be replaced");
    }
    // Its requests in flight are answered first.
    await before.service.stop();
    rmSync(before.own.data, { recursive: true, force: true });
    log.info({ path: current.own.data }, "demo: begun anew");
  };
  const isDue = () => Date.now() >= resetsAt || sizeOf(current.own.data) >= sizeLimitBytes;
  const credit = () =>
    topUp(current.own).catch((error) =>
      log.error({ error: String(error) }, "demo: the balance could not be credited"),
    );
  const timer = setInterval(
    () => (busy ??= (isDue() ? replace() : credit()).finally(() => (busy = null))),
    Math.min(SIZE_CHECKED_EVERY_MS, every / 4),
  );

  return {
    ...current.service,
    log,
    backUpNow: () => {},
    reload: () => current.service.reload(),
    async stop() {
      clearInterval(timer);
      await Promise.all([stage.api.stop(), stage.panel.stop()]);
      await busy;
      await current.service.stop();
      removeWorlds(config.data);
      release();
      await log.close();
    },
  };
}

function openStage(config: Config, log: Logger) {
  const { host, port, panelListen, trustedProxy } = config;
  const certificate = readCertificate(config);
  const files = planOwnFiles(config);
  // The panel has as many visitors as the portal.
  const poolOf = () => createConnectionPools(files, config, log).api;
  const admit = createVisitorLimits(trustedProxy);
  const at = (endpoint: Endpoint) =>
    listen(endpoint, () =>
      createHandover(addressOf(endpoint), certificate, poolOf(), admit, BODY_LIMIT_BYTES),
    );
  const api = at({ host, port });
  return { api, panel: at(panelListen!) };
}

/** Removes databases that a killed process left. */
function removeWorlds(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (FOLDER.test(name)) rmSync(join(folder, name), { recursive: true, force: true });
  }
}

/** Returns the size of the files in a folder. A file may vanish meanwhile. */
function sizeOf(folder: string): number {
  const sizes = readdirSync(folder).map(
    (name) => statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0,
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
