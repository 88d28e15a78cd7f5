// The settings, one row each: flags of `serve`, with values, defaults and help.
// docs/specification/command-line.md#settings.

import { hostname } from "node:os";
import { DISK_FULL_BYTES } from "../domain/reports/conditions.ts";
import { formatSize } from "../domain/values/units.ts";
import { LOG_FORMATS, LOG_LEVELS } from "../monitoring/log.ts";
import { isLoopback } from "./networks.ts";
import { packagedData } from "./packaged-data.ts";
import * as remote from "./remote-values.ts";
import * as kinds from "./values.ts";

export interface Setting<Value> extends kinds.ValueKind<Value> {
  default: Value;
  /** The default as text that `parse` accepts, or a word for a missing value. */
  defaultText: string;
  help: string;
  /** Given only by variable or file: everyone on the machine can read the command line of a process. */
  isSecret?: true;
  /** Left out of a command's help; for tests. */
  isHidden?: true;
}

const TELEGRAM_API = "https://api.telegram.org";
const CHECKPOINT_MODES = ["internal", "external"] as const;

/** The settings file of the unit deploy/reseller.service. */
export const DEFAULT_ENV_FILE = "/etc/reseller/reseller.env";

/** The settings by flag, in the order of help, `config show` and docs/configuration.md. */
export const SETTINGS = {
  data: setting(
    kinds.text("DIR"),
    packagedData() ?? "./data",
    "folder of the database (reseller.db)",
  ),
  database: optional(
    kinds.databaseAddress,
    "PostgreSQL database, postgres://user:password@host/name, in place of the one in --data",
  ),
  "env-file": {
    ...kinds.envFile,
    default: DEFAULT_ENV_FILE,
    defaultText: DEFAULT_ENV_FILE,
    help: "more variables, one NAME=value a line as systemd reads them; none: no file",
  },
  server: {
    ...kinds.serverName,
    default: hostname(),
    defaultText: "the host's name",
    help: "name of this server among those of one PostgreSQL database",
  },
  host: setting(kinds.text("ADDRESS"), "127.0.0.1", "address to listen on"),
  port: setting(kinds.port, "8080", "port to listen on; 0 takes a free one"),
  "tls-cert": optional(
    kinds.text("FILE"),
    "certificate chain (PEM) to speak TLS with; SIGHUP reads it again",
  ),
  "tls-key": optional(kinds.text("FILE"), "private key (PEM) of the certificate"),
  "trusted-proxy": {
    ...kinds.networks,
    default: [],
    defaultText: "none",
    help: "proxies whose X-Forwarded-For counts",
  },
  "rate-limit": setting(
    kinds.rateLimit,
    "100/s",
    "requests of one key: N/s, N/m or N/h, at once twice that; 0: no limit, of addresses neither",
  ),
  "max-connections": {
    ...optional(
      kinds.connectionCount,
      "connections to the API at once, as far as the limit of open files allows",
    ),
    defaultText: "10000",
  },
  "max-connections-per-address": {
    ...optional(kinds.connectionCount, "of one address that is no trusted proxy"),
    defaultText: "a quarter of them, at most 1000",
  },
  brand: optional(kinds.brand, "name of your service, on the pages of its documentation"),
  contact: optional(
    kinds.contact,
    "where resellers reach you, on those pages: an e-mail address or an https URL",
  ),
  "metrics-listen": {
    ...kinds.endpoint,
    default: null,
    defaultText: "off",
    help: "where Prometheus may ask for /metrics; 0 turns it off",
  },
  "panel-listen": {
    ...kinds.endpoint,
    default: null,
    defaultText: "off",
    help: "where the operator's panel listens; 0 turns it off",
  },
  "panel-url": optional(
    kinds.origin,
    "where browsers find the panel, when it is behind a proxy: https://panel.example",
  ),
  "panel-insecure": setting(
    kinds.toggle,
    "off",
    "the panel may speak plain HTTP beyond this machine, where others can read along",
  ),
  "panel-confirm-above": setting(
    kinds.amount,
    "100",
    "credits, debits and refunds above this ask the panel's administrator for a password or code again",
  ),
  "confirm-above": setting(
    kinds.amount,
    "1000",
    "commands that move more than this ask on a terminal first, and without one need --yes",
  ),
  "disk-floor": setting(
    kinds.size,
    formatSize(DISK_FULL_BYTES),
    "free room below which the server is not ready; 0: any",
  ),
  "place-wait": setting(
    kinds.duration(0),
    "10s",
    "how long POST /orders waits for the provider's reply",
  ),
  "place-retry": setting(
    kinds.duration(0),
    "1h",
    "how long an order that could not be sent is tried again",
  ),
  "provider-pause-after": setting(
    kinds.pauseAfter,
    "3",
    "unknown outcomes in a row after which submissions to a provider are paused; 0: never",
  ),
  "provider-timeout": setting(kinds.duration(1), "30s", "how long one call to a provider may take"),
  "poll-interval": setting(
    kinds.duration(1),
    "60s",
    "shortest pause between two polls of an order; the longest is 30 times that",
  ),
  "webhook-allow": {
    ...kinds.networks,
    default: [],
    defaultText: "none",
    help: "networks that are not public and that webhooks may be sent to all the same",
  },
  "webhook-allow-http": setting(kinds.toggle, "off", "webhooks may be sent to http addresses too"),
  "telegram-api": {
    ...remote.httpUrl,
    default: TELEGRAM_API,
    defaultText: TELEGRAM_API,
    help: "address of Telegram's Bot API, which alerts are sent to; another one for tests",
    isHidden: true,
  },
  "backup-every": setting(kinds.duration(0), "24h", "time between two backups; 0 turns them off"),
  "backup-dir": {
    ...optional(kinds.text("DIR"), "folder of the backups; services may share one"),
    defaultText: "backups in --data",
  },
  "backup-keep": setting(kinds.backupCount, "7", "backups to keep"),
  "backup-to": optional(remote.remoteFolder, "S3 folder that each backup is copied to"),
  "backup-keep-remote": setting(kinds.backupCount, "30", "copies to keep there"),
  "backup-recipient": optional(remote.recipient, "age recipient that the copies are encrypted to"),
  "s3-endpoint": {
    ...optional(remote.httpUrl, "server of the bucket"),
    defaultText: "Amazon's",
  },
  "s3-region": setting(remote.region, "us-east-1", "region of the bucket"),
  "s3-access-key": { ...optional(remote.secret, "access key of the bucket"), isSecret: true },
  "s3-secret-key": { ...optional(remote.secret, "secret key of the bucket"), isSecret: true },
  checkpoint: setting(
    kinds.choice("MODE", CHECKPOINT_MODES),
    "internal",
    "who checkpoints the write-ahead log; external: Litestream does",
  ),
  "log-level": setting(kinds.choice("LEVEL", LOG_LEVELS), "info", "least important event to log"),
  "log-format": setting(
    kinds.choice("FORMAT", LOG_FORMATS),
    "auto",
    "json: a line an event; pretty: for people; auto: pretty on a terminal",
  ),
  "log-reads": setting(
    kinds.share,
    "all",
    "which share of the successful reads to log: all, none or 1%",
  ),
} satisfies Record<string, Setting<unknown>>;

export type Flag = keyof typeof SETTINGS;

/** The settings that only commands take, not `serve`. */
export const COMMAND_FLAGS: readonly Flag[] = ["confirm-above"];

/** The settings that a command needs to find the copies of backups. */
export const REMOTE_FLAGS = [
  "backup-to",
  "s3-endpoint",
  "s3-region",
  "s3-access-key",
  "s3-secret-key",
] as const satisfies readonly Flag[];

type CamelCase<Text extends string> = Text extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Text;

/** The value of each flag, by the flag's name in camel case, as commander names it. */
export type Config = {
  [Name in Flag as CamelCase<Name>]: ReturnType<(typeof SETTINGS)[Name]["parse"]>;
};

/** Returns the conflict between settings that are each valid by themselves, or null. */
export function conflictOf(config: Config): string | null {
  const { tlsCert, tlsKey, panelListen, panelInsecure } = config;
  if ((tlsCert === null) !== (tlsKey === null)) {
    return "--tls-cert and --tls-key belong together: give both or neither";
  }
  if (panelListen && !isPanelSecure(config) && !isPanelNear(config) && !panelInsecure) {
    return "the panel would speak plain HTTP beyond this machine: give --tls-cert and --tls-key, or --panel-url https://… of the proxy before it, or --panel-insecure on";
  }
  return null;
}

/** Returns whether browsers use TLS to reach the panel or the proxy before it. */
export function isPanelSecure({
  tlsCert,
  panelUrl,
}: Pick<Config, "tlsCert" | "panelUrl">): boolean {
  return panelUrl === null ? tlsCert !== null : panelUrl.startsWith("https:");
}

/** Returns whether the panel's listen address and URL are both on this machine. */
function isPanelNear({ panelListen, panelUrl }: Config): boolean {
  const hosts = [panelListen!.host, ...(panelUrl === null ? [] : [new URL(panelUrl).hostname])];
  return hosts.every((host) => isLoopback(host.replace(/^\[|\]$/g, "")));
}

/** Returns whether only this machine can reach the panel. */
export function isPanelLocal({ panelListen, panelUrl }: Pick<Config, "panelListen" | "panelUrl">) {
  return panelUrl === null && panelListen !== null && isLoopback(panelListen.host);
}

function setting<Value>(
  kind: kinds.ValueKind<Value>,
  defaultText: string,
  help: string,
): Setting<Value> {
  return { ...kind, default: kind.parse(defaultText), defaultText, help };
}

/** Makes a setting that is null unless it is given. */
function optional<Value>(kind: kinds.ValueKind<Value>, help: string): Setting<Value | null> {
  const format = (value: Value | null) => (value === null ? "" : kind.format(value));
  return { ...kind, format, default: null, defaultText: "none", help };
}
