// Values of settings: read from what was given, printed as they can be given again.

import { InvalidArgumentError } from "commander";
import { formatNetwork, type Network, parseNetwork } from "./networks.ts";
import {
  formatDuration,
  formatRate,
  formatSize,
  parseDuration,
  parseRate,
  parseSize,
  type Rate,
} from "../domain/units.ts";

/** Timers cannot wait for 2^31 ms or more. */
const DURATION_LIMIT_MS = 24 * 24 * 60 * 60 * 1000;
const BACKUP_KEEP_LIMIT = 10_000;
const METRICS_ENDPOINT = /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:[\]]+)):(\d{1,5})$/;
const PERCENTAGE = /^(\d{1,3}(?:\.\d{1,4})?)%$/;

export interface Endpoint {
  host: string;
  port: number;
}

export function valueText(name: string, value: unknown): string {
  switch (name) {
    case "rateLimit":
      return value === 0 ? "0" : formatRate(value as Rate);
    case "trustedProxy":
      return (value as Network[]).map(formatNetwork).join(",");
    case "metricsListen":
      return value === null ? "" : formatEndpoint(value as Endpoint);
    case "logReads":
      return value === 1
        ? "all"
        : value === 0
          ? "none"
          : `${Number((Number(value) * 100).toFixed(6))}%`;
    case "placeWait":
    case "placeRetry":
    case "providerTimeout":
    case "pollInterval":
    case "backupEvery":
      return formatDuration(value as number);
    case "diskFloor":
      return formatSize(value as number);
    default:
      return typeof value === "number" ? String(value) : ((value as string | null) ?? "");
  }
}

export function formatEndpoint({ host, port }: Endpoint): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** An empty host would listen on every interface, an empty folder would be the working directory. */
export function parseText(text: string): string {
  if (text.trim() === "") throw new InvalidArgumentError("must not be empty.");
  return text;
}

export function parseTimer(text: string, leastMs: number): number {
  const milliseconds = parseDuration(text) ?? Number.NaN;
  if (!(milliseconds >= leastMs && milliseconds <= DURATION_LIMIT_MS)) {
    throw new InvalidArgumentError("must be a duration such as 500ms, 10s, 5m or 1h, at most 24d.");
  }
  return milliseconds;
}

export function parseKeep(text: string): number {
  const keep = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(keep >= 1 && keep <= BACKUP_KEEP_LIMIT)) {
    throw new InvalidArgumentError(`must be a whole number from 1 to ${BACKUP_KEEP_LIMIT}.`);
  }
  return keep;
}

export function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(port <= 65_535)) throw new InvalidArgumentError("must be a port from 0 to 65535.");
  return port;
}

export function parseNetworks(text: string): Network[] {
  return text.split(",").map((part) => {
    const network = parseNetwork(part.trim());
    if (network) return network;
    throw new InvalidArgumentError("must be networks such as 10.0.0.0/8 or 2001:db8::/32.");
  });
}

export function parseRateLimit(text: string): Rate | 0 {
  if (text === "0") return 0;
  const rate = parseRate(text);
  if (!rate) throw new InvalidArgumentError("must be a rate such as 100/s or 600/m, or 0.");
  return rate;
}

export function parseEndpoint(text: string): Endpoint | null {
  if (text === "0") return null;
  const [, v6, host, port] = METRICS_ENDPOINT.exec(text) ?? [];
  if (port === undefined || Number(port) > 65_535) {
    throw new InvalidArgumentError("must be an address and a port, such as 127.0.0.1:9090.");
  }
  return { host: (v6 ?? host)!, port: Number(port) };
}

export function parseBytes(text: string): number {
  const bytes = parseSize(text);
  if (bytes === null) throw new InvalidArgumentError("must be a size such as 64MiB or 1GB.");
  return bytes;
}

export function parseShare(text: string): number {
  if (text === "all") return 1;
  if (text === "none") return 0;
  const percent = Number(PERCENTAGE.exec(text)?.[1] ?? Number.NaN);
  if (!(percent <= 100)) throw new InvalidArgumentError("must be all, none or a share such as 1%.");
  return percent / 100;
}
