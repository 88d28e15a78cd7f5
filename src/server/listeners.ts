// The listeners of the API, the panel, the portal and the metrics, and the file with the API's address.

import { rmSync, writeFileSync } from "node:fs";
import type { Config } from "../config/settings.ts";
import { type Endpoint, formatEndpoint } from "../config/values.ts";
import { errorCode } from "../domain/values/error-table.ts";
import { type Address, type Server, tryAddress } from "../http1/listen.ts";
import type { Logger } from "../monitoring/log.ts";
import type { Metrics } from "../monitoring/metrics.ts";

/** Thrown when an address cannot be listened on. The message is the system's error code, such as EADDRINUSE. */
export class ListenError extends Error {
  override name = "ListenError";

  constructor(
    message: string,
    readonly address: string,
  ) {
    super(message);
  }
}

export interface Listeners {
  api: Server;
  panel: Server | null;
  /** Null if the portal has no listener of its own. */
  portal: Server | null;
  /** Stops all listeners; resolves once every request in flight is answered. */
  stop(): Promise<void>;
  /** URL of the metrics; null if there is no metrics listener. */
  metricsUrl: string | null;
}

export interface ListenerStarters {
  api: (address: Address) => Server;
  panel: (address: Address) => Server;
  portal: (address: Address) => Server;
  metrics: (metrics: Metrics, address: Address) => Server;
}

/** Addresses that servers take over from each other (http1/handover.ts). */
export interface Stage {
  api: Address;
  panel: Address;
}

/**
 * Starts all listeners in the settings. If one fails, stops the others and throws ListenError. `stage`: the addresses
 * of API and panel, if they are taken over.
 */
export function startListeners(
  config: Config,
  metrics: Metrics | null,
  stage: Stage | null,
  starts: ListenerStarters,
): Listeners {
  const { host, port, metricsListen, panelListen, portalListen } = config;
  const started: Server[] = [];
  const start = (
    endpoint: Endpoint,
    by: (address: Address) => Server,
    address = addressOf(endpoint),
  ) => {
    const server = listen(endpoint, () => by(address));
    started.push(server);
    return server;
  };
  const stop = async () => void (await Promise.all(started.map((server) => server.stop())));
  try {
    const api = start({ host, port }, starts.api, stage?.api);
    const panel = panelListen && start(panelListen, starts.panel, stage?.panel);
    const portal = portalListen && start(portalListen, starts.portal);
    const scraped =
      metrics &&
      metricsListen &&
      start(metricsListen, (address) => starts.metrics(metrics, address));
    return { api, panel, portal, stop, metricsUrl: scraped && `${urlOf("http", scraped)}/metrics` };
  } catch (error) {
    void stop();
    throw error;
  }
}

export function addressOf({ host: hostname, port }: Endpoint): Address {
  return { hostname, port };
}

/** Throws ListenError with the address if it cannot be listened on. */
export function listen<Result>(endpoint: Endpoint, start: () => Result): Result {
  try {
    return start();
  } catch (error) {
    throw new ListenError(errorCode(error), formatEndpoint(endpoint));
  }
}

/** Returns the system's error code if the address cannot be listened on now; else null. */
export function listenErrorAt({ host, port }: Endpoint): string | null {
  try {
    tryAddress(addressOf({ host, port }));
    return null;
  } catch (error) {
    return errorCode(error);
  }
}

export function urlOf(protocol: "http" | "https", { hostname: host, port }: Server): string {
  return `${protocol}://${formatEndpoint({ host, port })}`;
}

/**
 * Writes the file by which commands find the server. A failure is not fatal: the server must start even with a full
 * disk.
 */
export function writeAddressFile(path: string, url: string, log: Logger): void {
  try {
    writeFileSync(path, url, { mode: 0o600 });
  } catch (error) {
    rmSync(path, { force: true });
    log.warn(
      { address: path, why: String(error) },
      "address file not written: run `health` with --url and `panel invite` with --panel-url",
    );
  }
}
