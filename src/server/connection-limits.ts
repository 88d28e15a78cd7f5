// Shares out the file descriptors of the process: each connection and each outgoing call takes one, the database a few.
// At the limit of open files SQLite fails, and a listener wakes the event loop for connections that it cannot accept.

import { canonicalAddress, isWithin, rateLimitGroup } from "../config/networks.ts";
import {
  type Config,
  CONNECTIONS_DEFAULT,
  CONNECTIONS_OF_ADDRESS_DEFAULT,
} from "../config/settings.ts";
import { ConnectionPool } from "../http1/connection-pool.ts";
import type { Logger } from "../monitoring/log.ts";
import { type Check, FINE } from "../monitoring/readiness.ts";
import { openFilesLimit } from "../monitoring/open-files.ts";
import { ATTEMPTS_LIMIT } from "../webhooks/worker.ts";
import { MINUTE_MS } from "../domain/values/spans.ts";

/** Files for the database, the log, threads, backup processes and kept-alive connections to providers. */
const OWN_FILES = 96;
/** Connections reserved for browsers and Prometheus, which callers of the API cannot take. */
const PANEL_CONNECTIONS = 32;
const PANEL_CONNECTIONS_OF_ADDRESS = 16;
const METRICS_CONNECTIONS = 8;
/** Files for everything except calls to providers and connections of the API. */
export const OTHER_FILES = OWN_FILES + ATTEMPTS_LIMIT + PANEL_CONNECTIONS + METRICS_CONNECTIONS;
const CALLS = { least: 8, most: 1024 };
const CONNECTIONS = { least: 16, most: CONNECTIONS_DEFAULT };
const CONNECTIONS_OF_ADDRESS = { least: 8, most: CONNECTIONS_OF_ADDRESS_DEFAULT };
/** Limit of open files below which a warning says that there is little room for connections and calls. */
const FILES_WANTED = 1024;
const FEW_FILES = "the limit for open files is low: raise LimitNOFILE or `ulimit -n`";
const LIMIT_ABOVE_FILES =
  "--max-connections exceeds the limit for open files: raise LimitNOFILE or `ulimit -n`";
const NOTE_MS = MINUTE_MS;
const CROWDED_SHARE = 0.9;

export type ConnectionSettings = Pick<Config, "maxConnections" | "maxConnectionsPerAddress">;

export interface FilePlan {
  files: number;
  /** Limit for simultaneous calls to providers. */
  calls: number;
  /** Limits for connections of the API, in all and from one address. */
  connections: number;
  perAddress: number;
  /** What is wrong with the settings or the limit of open files; null if nothing is. */
  warning: string | null;
}

export function planFiles(settings: ConnectionSettings, files: number): FilePlan {
  const { maxConnections, maxConnectionsPerAddress } = settings;
  const rest = files - OTHER_FILES;
  const calls = clamped(CALLS, Math.floor(rest / 3));
  const room = Math.max(CONNECTIONS.least, rest - calls);
  const connections = Math.min(maxConnections ?? CONNECTIONS.most, room);
  const quarter = clamped(CONNECTIONS_OF_ADDRESS, Math.floor(connections / 4));
  const perAddress = Math.min(maxConnectionsPerAddress ?? quarter, connections);
  const isTooMuch = maxConnections !== null && maxConnections > room;
  const warning = isTooMuch ? LIMIT_ABOVE_FILES : files < FILES_WANTED ? FEW_FILES : null;
  return { files, calls, connections, perAddress, warning };
}

/** Returns the plan for the limit of open files of this process. */
export function planOwnFiles(settings: ConnectionSettings): FilePlan {
  return planFiles(settings, openFilesLimit());
}

export interface ConnectionPools {
  api: ConnectionPool;
  panel: ConnectionPool;
  metrics: ConnectionPool;
}

/**
 * Creates the pools. A trusted proxy stands for many clients, so its connections count only towards the limit for all.
 */
export function createConnectionPools(
  { connections, perAddress }: FilePlan,
  { trustedProxy }: Pick<Config, "trustedProxy">,
  log: Pick<Logger, "warn">,
): ConnectionPools {
  const clientOf = (text: string) => {
    const address = canonicalAddress(text) ?? text;
    return isWithin(address, trustedProxy) ? null : rateLimitGroup(address);
  };
  const pool = (listener: keyof ConnectionPools, all: number, perClient: number) => {
    let notedAt = Number.NEGATIVE_INFINITY;
    const onFull = (client: string | null) => {
      if (performance.now() < notedAt + NOTE_MS) return;
      notedAt = performance.now();
      const fields = { listener, address: client, limit: all, limitOfAddress: perClient };
      log.warn(fields, "a connection was closed because the limit is reached");
    };
    return new ConnectionPool({ all, perClient, clientOf, onFull });
  };
  return {
    api: pool("api", connections, perAddress),
    panel: pool("panel", PANEL_CONNECTIONS, PANEL_CONNECTIONS_OF_ADDRESS),
    metrics: pool("metrics", METRICS_CONNECTIONS, METRICS_CONNECTIONS),
  };
}

/**
 * Reports whether there is room for new connections. Always ok: a full server still serves the connections that it has,
 * so its load need not go to other servers.
 */
export function checkConnections(pool: ConnectionPool): Check {
  const { open, limit, refused } = pool.figures();
  if (open < CROWDED_SHARE * limit) return FINE;
  return {
    ok: true,
    detail: `${open} of ${limit} are open; ${refused} were refused since the start`,
  };
}

function clamped({ least, most }: { least: number; most: number }, value: number): number {
  return Math.min(Math.max(value, least), most);
}
