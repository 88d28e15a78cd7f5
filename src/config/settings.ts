// The settings, one row each: flags of `serve`, with values, defaults and help.
// docs/specification/command-line.md#settings.

import { hostname } from "node:os";
import { TELEGRAM_API } from "../domain/alerts/alert-endpoints.ts";
import { DISK_FULL_BYTES, POLL_INTERVAL_MS } from "../domain/alerts/conditions.ts";
import type { OrderLimits } from "../domain/users/reseller-limits.ts";
import { SECOND_MS } from "../domain/values/spans.ts";
import { formatSize } from "../domain/values/units.ts";
import { LOG_FORMATS, LOG_LEVELS } from "../monitoring/log.ts";
import { isLoopback } from "./networks.ts";
import * as mail from "./mail-values.ts";
import { RELEASE_KEY_DEFAULT, RELEASE_URL_DEFAULT } from "./release.ts";
import { packagedData } from "./packaged-data.ts";
import * as remote from "./remote-values.ts";
import * as kinds from "./values.ts";

export interface Setting<Value> extends kinds.ValueKind<Value> {
  default: Value;
  /** The default as text that `parse` accepts, or a word for a missing value. */
  defaultText: string;
  help: string;
  /** True for a value that only a variable or file may give: everyone on the machine can read command lines. */
  isSecret?: true;
  /** True for a setting only for tests, which help leaves out. */
  isHidden?: true;
}

/** Default of --max-connections. */
export const CONNECTIONS_DEFAULT = 10_000;
/** Maximum of the default of --max-connections-per-address. */
export const CONNECTIONS_OF_ADDRESS_DEFAULT = 1000;
/** Path of the portal on the API's listener. */
export const PORTAL_PREFIX = "/portal";
/** Whether visitors of the portal may ask for an account. */
export const PORTAL_REGISTRATIONS = ["off", "approve", "open"] as const;
export type PortalRegistration = (typeof PORTAL_REGISTRATIONS)[number];
const SECOND_FACTORS = ["optional", "required"] as const;
const CHECKPOINT_MODES = ["internal", "external"] as const;

/** The settings file of the unit deploy/reseller.service. */
export const DEFAULT_ENV_FILE = "/etc/reseller/reseller.env";

/** The settings by flag, in the order of help, `config show` and deploy/settings.example.env. */
export const SETTINGS = {
  data: setting(
    kinds.text("DIR"),
    packagedData() ?? "./data",
    "folder that holds the database (reseller.db)",
  ),
  database: optional(
    kinds.databaseAddress,
    "PostgreSQL database to use instead of --data: postgres://user:password@host/name",
  ),
  "env-file": {
    ...kinds.envFile,
    default: DEFAULT_ENV_FILE,
    defaultText: DEFAULT_ENV_FILE,
    help: "file with more variables, one NAME=value per line as systemd reads them; none: read no file",
  },
  server: {
    ...kinds.serverName,
    default: hostname(),
    defaultText: "the host name",
    help: "name of this server, unique among the servers of one PostgreSQL database",
  },
  host: setting(kinds.text("ADDRESS"), "127.0.0.1", "address to listen on"),
  port: setting(kinds.port, "8080", "port to listen on; 0 chooses a free one"),
  "tls-cert": optional(kinds.text("FILE"), "certificate chain (PEM) for TLS; SIGHUP reloads it"),
  "tls-key": optional(kinds.text("FILE"), "private key (PEM) for the certificate"),
  "trusted-proxy": {
    ...kinds.networks,
    default: [],
    defaultText: "none",
    help: "proxies whose X-Forwarded-For is trusted",
  },
  "rate-limit": setting(
    kinds.rateLimit,
    "100/s",
    "requests per key, N/s, N/m or N/h, with bursts of twice that; 0 disables all rate limits",
  ),
  "orders-per-minute": setting(
    kinds.orderLimit,
    "0",
    "limit for the orders of a reseller per minute, unless it has its own; 0: none",
  ),
  "spend-per-day": setting(
    kinds.amount,
    "0",
    "limit for the spend of a reseller per UTC day, unless it has its own; 0: none",
  ),
  "spend-per-month": setting(
    kinds.amount,
    "0",
    "limit for the spend of a reseller per UTC month, unless it has its own; 0: none",
  ),
  "open-orders": setting(
    kinds.orderLimit,
    "0",
    "limit for the open orders of a reseller, unless it has its own; 0: none",
  ),
  "max-connections": {
    ...optional(
      kinds.connectionCount,
      "maximum simultaneous API connections, if the limit of open files allows them",
    ),
    defaultText: String(CONNECTIONS_DEFAULT),
  },
  "max-connections-per-address": {
    ...optional(
      kinds.connectionCount,
      "maximum API connections from one address, except trusted proxies",
    ),
    defaultText: `a quarter of --max-connections, at most ${CONNECTIONS_OF_ADDRESS_DEFAULT}`,
  },
  brand: optional(kinds.brand, "name of your service, shown on its documentation and portal pages"),
  contact: optional(kinds.contact, "contact on these pages: an e-mail address or an https URL"),
  "metrics-listen": {
    ...kinds.endpoint,
    default: null,
    defaultText: "off",
    help: "address to serve /metrics for Prometheus on; 0 turns it off",
  },
  "panel-listen": {
    ...kinds.endpoint,
    default: null,
    defaultText: "off",
    help: "address to serve the operator's panel on; 0 turns it off",
  },
  "panel-url": optional(
    kinds.origin,
    "public URL of the panel behind a proxy, such as https://panel.example",
  ),
  "panel-insecure": setting(
    kinds.toggle,
    "off",
    "allow the panel on plain HTTP outside this machine (traffic can be read by others)",
  ),
  "panel-confirm-above": setting(
    kinds.amount,
    "100",
    "credits, debits and refunds above this make the panel ask for the password or code again",
  ),
  "panel-upload-limit": setting(
    kinds.size,
    "256MiB",
    "limit for the files that are uploaded together to move in from another panel",
  ),
  portal: setting(
    kinds.toggle,
    "off",
    "serve the pages of resellers, the portal, at /portal of the API's address",
  ),
  "portal-listen": {
    ...kinds.endpoint,
    default: null,
    defaultText: "off",
    help: "address to serve the portal on instead of the API's; 0 turns it off",
  },
  "portal-url": optional(
    kinds.origin,
    "public URL of the portal behind a proxy, such as https://shop.example",
  ),
  "portal-registration": setting(
    kinds.choice("MODE", PORTAL_REGISTRATIONS),
    "off",
    "whether visitors may ask for an account; approve: you decide; open: they get one with balance 0",
  ),
  "portal-second-factor": setting(
    kinds.choice("MODE", SECOND_FACTORS),
    "optional",
    "whether members need a second factor to sign in to the portal",
  ),
  "portal-registration-rate": setting(
    kinds.rateLimit,
    "10/h",
    "registrations from one network, with bursts of twice that; 0: no limit",
  ),
  "portal-registrations-waiting": setting(
    kinds.someOf,
    "1000",
    "registrations with a proved address that may wait for you; further visitors are refused",
  ),
  "portal-search-rate": setting(
    kinds.rateLimit,
    "2/s",
    "searches of orders by one member, with bursts of twice that; 0: no limit",
  ),
  "portal-search-orders": setting(
    kinds.someOf,
    "10000",
    "orders that one page of a search examines at most; 1,000 take about 0.5 ms",
  ),
  "portal-logo": optional(kinds.text("FILE"), "logo of the portal: a PNG, JPEG, WebP or SVG file"),
  "portal-texts": optional(
    kinds.text("FILE"),
    "JSON file with texts of the portal that replace its own, by language and name",
  ),
  accent: optional(kinds.color, "colour of links and buttons of the portal, such as #0b57b0"),
  "legal-name": optional(kinds.brand, "name of your company on invoices and statements"),
  "legal-address": optional(
    kinds.brand,
    "address of your company on invoices and statements; commas separate its lines",
  ),
  "confirm-above": setting(
    kinds.amount,
    "1000",
    "commands that move more than this ask for confirmation; without a terminal they need --yes",
  ),
  "release-url": {
    ...optional(
      kinds.releaseUrl,
      "URL of the folder with the newest release; only `upgrade` uses it",
    ),
    default: RELEASE_URL_DEFAULT,
    defaultText: RELEASE_URL_DEFAULT ?? "none",
  },
  "release-key": {
    ...optional(kinds.text("KEY"), "public key that signs releases, as minisign prints it"),
    default: RELEASE_KEY_DEFAULT,
    defaultText: RELEASE_KEY_DEFAULT ?? "none",
  },
  "disk-floor": setting(
    kinds.size,
    formatSize(DISK_FULL_BYTES),
    "free disk space below which the server reports itself not ready; 0: never",
  ),
  "place-wait": setting(
    kinds.duration(0),
    "10s",
    "how long POST /orders waits for the provider's response",
  ),
  "place-retry": setting(
    kinds.duration(0),
    "1h",
    "how long to keep retrying an order that could not be sent",
  ),
  "provider-pause-after": setting(
    kinds.pauseAfter,
    "3",
    "consecutive unknown outcomes after which submissions to a provider pause; 0: never",
  ),
  "provider-timeout": setting(kinds.duration(1), "30s", "time limit for one call to a provider"),
  "poll-interval": setting(
    kinds.duration(1),
    `${POLL_INTERVAL_MS / SECOND_MS}s`,
    "minimum time between two polls of an order; the maximum is 30 times that",
  ),
  "webhook-allow": {
    ...kinds.networks,
    default: [],
    defaultText: "none",
    help: "private networks that webhooks may be sent to",
  },
  "webhook-allow-http": setting(kinds.toggle, "off", "also allow webhooks to http URLs"),
  "telegram-api": {
    ...remote.httpUrl,
    default: TELEGRAM_API,
    defaultText: TELEGRAM_API,
    help: "address of Telegram's Bot API for alerts; change it only for tests",
    isHidden: true,
  },
  smtp: optional(
    mail.mailServer,
    "mail server to send e-mails by: smtps://user@host, or smtp:// with STARTTLS",
  ),
  "smtp-password": { ...optional(remote.secret, "password of the mail server"), isSecret: true },
  "mail-from": optional(
    mail.mailFrom,
    "address that e-mails come from, such as Shop <orders@shop.example>",
  ),
  "mail-operator": optional(mail.mailAddress, "address for alerts, and for payments to approve"),
  "mail-per-hour": setting(kinds.mailCount, "20", "maximum e-mails to one address in an hour"),
  "stripe-api": {
    ...optional(remote.httpUrl, "address of Stripe's API; change it only for tests"),
    isHidden: true,
  },
  "backup-every": setting(kinds.duration(0), "24h", "time between backups; 0 turns them off"),
  "backup-dir": {
    ...optional(kinds.text("DIR"), "folder for backups; several services may share it"),
    defaultText: "the folder backups in --data",
  },
  "backup-keep": setting(kinds.backupCount, "7", "backups to keep"),
  "backup-to": optional(remote.remoteFolder, "S3 folder that each backup is copied to"),
  "backup-keep-remote": setting(kinds.backupCount, "30", "off-site copies to keep"),
  "backup-recipient": optional(remote.recipient, "age recipient to encrypt the copies for"),
  "s3-endpoint": {
    ...optional(remote.httpUrl, "S3 server of the bucket"),
    defaultText: "Amazon's",
  },
  "s3-region": setting(remote.region, "us-east-1", "region of the bucket"),
  "s3-access-key": { ...optional(remote.secret, "access key of the bucket"), isSecret: true },
  "s3-secret-key": { ...optional(remote.secret, "secret key of the bucket"), isSecret: true },
  checkpoint: setting(
    kinds.choice("MODE", CHECKPOINT_MODES),
    "internal",
    "who checkpoints the write-ahead log; external: Litestream",
  ),
  "log-level": setting(kinds.choice("LEVEL", LOG_LEVELS), "info", "lowest level of events to log"),
  "log-format": setting(
    kinds.choice("FORMAT", LOG_FORMATS),
    "auto",
    "json: one line per event; pretty: for people; auto: pretty on a terminal",
  ),
  "log-reads": setting(
    kinds.share,
    "all",
    "share of successful reads to log: all, none or, for example, 1%",
  ),
} satisfies Record<string, Setting<unknown>>;

export type Flag = keyof typeof SETTINGS;

/** The settings that only commands take, not `serve`. */
export const COMMAND_FLAGS: readonly Flag[] = ["confirm-above", "release-url", "release-key"];

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

/** The values of all flags, by their names in camel case, as commander names them. */
export type Config = {
  [Name in Flag as CamelCase<Name>]: ReturnType<(typeof SETTINGS)[Name]["parse"]>;
};

/** Returns the default limits for the orders of a reseller. */
export function orderLimitsIn(
  config: Pick<Config, "ordersPerMinute" | "spendPerDay" | "spendPerMonth" | "openOrders">,
): OrderLimits {
  const { ordersPerMinute, spendPerDay, spendPerMonth, openOrders } = config;
  return {
    ordersPerMinute,
    spendPerDayMicros: spendPerDay,
    spendPerMonthMicros: spendPerMonth,
    openOrders,
  };
}

/** Returns who issues invoices; null unless name and address are set. */
export function sellerIn({ legalName, legalAddress }: Pick<Config, "legalName" | "legalAddress">): {
  sellerName: string;
  sellerAddress: string;
} | null {
  if (legalName === null || legalAddress === null) return null;
  const lines = legalAddress.split(",").map((line) => line.trim());
  return { sellerName: legalName, sellerAddress: lines.filter((line) => line !== "").join("\n") };
}

/** Returns the conflict between settings that are each valid by themselves, or null. */
export function findConflict(config: Config): string | null {
  const { tlsCert, tlsKey, panelListen, panelInsecure } = config;
  if ((tlsCert === null) !== (tlsKey === null)) {
    return "--tls-cert and --tls-key must be used together: set both or neither";
  }
  if (panelListen && !isPanelSecure(config) && !isPanelNear(config) && !panelInsecure) {
    return "the panel would use plain HTTP outside this machine: set --tls-cert and --tls-key, or --panel-url to the https URL of the proxy in front of it, or --panel-insecure on";
  }
  if (isPortalOn(config) && !isPortalSecure(config) && !isPortalNear(config)) {
    return "the portal would use plain HTTP outside this machine: set --tls-cert and --tls-key, or --portal-url to the https URL of the proxy in front of it";
  }
  if (config.portal && config.portalListen) {
    return "--portal and --portal-listen must not be used together: the portal has one address";
  }
  if (config.smtp && isPortalOn(config) && config.portalUrl === null && !isPortalNear(config)) {
    return "--smtp and the portal need --portal-url: the links in e-mails lead there";
  }
  return mail.missingForMail(config);
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
  return isNear(panelListen!.host, panelUrl);
}

function isNear(listenHost: string, url: string | null): boolean {
  const hosts = [listenHost, ...(url === null ? [] : [new URL(url).hostname])];
  return hosts.every((host) => isLoopback(host.replace(/^\[|\]$/g, "")));
}

export function isPortalOn({
  portal,
  portalListen,
}: Pick<Config, "portal" | "portalListen">): boolean {
  return portal || portalListen !== null;
}

/** Returns whether browsers use TLS to reach the portal or the proxy before it. */
export function isPortalSecure({
  tlsCert,
  portalUrl,
}: Pick<Config, "tlsCert" | "portalUrl">): boolean {
  return portalUrl === null ? tlsCert !== null : portalUrl.startsWith("https:");
}

/** Returns whether only this machine reaches the portal, so that it needs no TLS. */
export function isPortalNear({ host, portalListen, portalUrl }: Config): boolean {
  return isNear(portalListen?.host ?? host, portalUrl);
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
