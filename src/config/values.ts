// The value types of settings: each is parsed from text, and formatted so that it parses again.

import { InvalidArgumentError } from "commander";
import { formatNetwork, NETWORKS } from "./networks.ts";
import {
  duration as durationKind,
  type Kind,
  oneOf,
  ORDER_LIMIT,
  PRICE,
  RATE_LIMIT,
  whole,
} from "../domain/values/kinds.ts";
import { formatMicros } from "../domain/ledger/money.ts";
import { PAUSE_AFTER_LIMIT } from "../domain/providers/provider-pauses.ts";
import {
  formatDuration,
  formatRate,
  formatSize,
  parseRate,
  parseSize,
  type Rate,
} from "../domain/values/units.ts";
import { DAY_MS } from "../domain/values/spans.ts";

/** Limit for durations: setTimeout cannot wait for 2^31 ms or more. */
const DURATION_LIMIT_MS = 24 * DAY_MS;
const BACKUP_KEEP_LIMIT = 10_000;
const CONNECTIONS_LIMIT = 1_000_000;
const ENDPOINT = /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:[\]]+)):(\d{1,5})$/;
const DATABASE_HOST = String.raw`(?:\[[\w.:%]+\]|[\w.%-]+)(?::\d{1,5})?`;
/**
 * Splits an address into the parts that are shown: the protocol, and what follows the password. A password may contain
 * anything but an @.
 */
const DATABASE_ADDRESS = new RegExp(
  String.raw`^(postgres(?:ql)?://)(?:[^@]*@)?(${DATABASE_HOST}(?:,${DATABASE_HOST})*/[^@/?#]+(?:\?[^@]*)?)$`,
);
const SERVER_NAME = /^[\w.-]{1,64}$/;
const PERCENTAGE = /^(\d{1,3}(?:\.\d{1,4})?)%$/;

export interface ValueKind<Value> {
  /** The placeholder for the value in help. */
  placeholder: string;
  choices?: readonly string[];
  /** The text of the value if the flag is given without one. */
  preset?: string;
  /** Throws InvalidArgumentError with a sentence that begins with "must". */
  parse(text: string): Value;
  format(value: Value): string;
}

/** Makes the value type of a setting from a kind that forms and files use too. */
function read<Value>(
  placeholder: string,
  kind: Kind<Value>,
  format: (value: Value) => string,
): ValueKind<Value> {
  return {
    placeholder,
    parse(given) {
      const found = kind.read(given);
      if ("must" in found) throw new InvalidArgumentError(`must be ${found.must}.`);
      return found.value;
    },
    format,
  };
}

export interface Endpoint {
  host: string;
  port: number;
}

/**
 * Any text but an empty one: an empty host would listen on every interface, an empty folder would be the working
 * directory.
 */
export function text(placeholder: string): ValueKind<string> {
  return {
    placeholder,
    parse(given) {
      if (given.trim() === "") throw new InvalidArgumentError("must not be empty.");
      return given;
    },
    format: (value) => value,
  };
}

/** The address of a folder of files to download. */
export const releaseUrl: ValueKind<string> = {
  placeholder: "URL",
  parse(given) {
    const url = URL.parse(given);
    if (url && /^(https?|file):$/.test(url.protocol) && url.search === "" && url.hash === "") {
      return given;
    }
    throw new InvalidArgumentError("must be a URL such as https://example.com/reseller/latest.");
  },
  format: (value) => value,
};

/** The word that is given instead of a path, for no file. */
export const NO_FILE = "none";

export const envFile: ValueKind<string | null> = {
  ...text("FILE"),
  parse(given) {
    return given === NO_FILE ? null : text("FILE").parse(given);
  },
  format: (path) => path || NO_FILE,
};

/** One line of text. */
export const brand: ValueKind<string> = {
  ...text("NAME"),
  parse(given) {
    if (!/^[^\p{Cc}]{1,100}$/u.test(given) || given.trim() === "") {
      throw new InvalidArgumentError("must have 1 to 100 characters on one line.");
    }
    return given.trim();
  },
};

/** A colour with six hexadecimal digits, in lower case. */
export const color: ValueKind<string> = {
  ...text("COLOR"),
  parse(given) {
    if (/^#[0-9a-f]{6}$/i.test(given)) return given.toLowerCase();
    throw new InvalidArgumentError("must be a colour such as #0b57b0.");
  },
};

export const contact: ValueKind<string> = {
  ...text("CONTACT"),
  parse(given) {
    const isUrl = given.startsWith("https://") && URL.canParse(given);
    if (!isUrl && !/^[^\s@<>"]+@[^\s@<>"]+$/.test(given)) {
      throw new InvalidArgumentError("must be an e-mail address or an https URL.");
    }
    return given;
  },
};

/**
 * The address of a PostgreSQL database, formatted without user and password. It is parsed only when the database is
 * opened (db/postgres/connection/address.ts), because a message about a wrong value would repeat the password.
 */
export const databaseAddress: ValueKind<string> = {
  ...text("URL"),
  format(value) {
    const [, protocol, rest] = DATABASE_ADDRESS.exec(value) ?? [];
    return rest === undefined ? "(not an address)" : protocol + rest;
  },
};

/** A server's name in the labels of metrics, by which people distinguish servers. */
export const serverName: ValueKind<string> = {
  ...text("NAME"),
  parse(given) {
    if (SERVER_NAME.test(given)) return given;
    throw new InvalidArgumentError(
      "must be 1 to 64 letters, digits, dots, hyphens or underscores.",
    );
  },
};

export function choice<Value extends string>(
  placeholder: string,
  choices: readonly Value[],
): ValueKind<Value> {
  return { ...read(placeholder, oneOf(choices), (value: Value) => value), choices };
}

/** A duration in milliseconds, like every duration in the code. */
export function duration(leastMs: number): ValueKind<number> {
  const form = "a duration such as 500ms, 10s, 5m or 1h, at most 24d";
  return read("DURATION", durationKind(form, leastMs, DURATION_LIMIT_MS), formatDuration);
}

export const backupCount = read("N", whole(1, BACKUP_KEEP_LIMIT), String);

export const mailCount = read("N", whole(1, 1000), String);

export const pauseAfter = read("N", whole(0, PAUSE_AFTER_LIMIT), String);

export const connectionCount = read("N", whole(1, CONNECTIONS_LIMIT), String);

/** A number of things of which there may be at most a million. */
export const someOf = read("N", whole(1, 1_000_000), String);

export const port: ValueKind<number> = {
  placeholder: "PORT",
  parse(given) {
    const number = /^\d{1,5}$/.test(given) ? Number(given) : Number.NaN;
    if (number <= 65_535) return number;
    throw new InvalidArgumentError("must be a port from 0 to 65535.");
  },
  format: String,
};

export const networks = read("CIDR[,CIDR]", NETWORKS, (value) =>
  value.map(formatNetwork).join(","),
);

/** On or off. A flag without a value means on; a variable always needs a value. */
export const toggle: ValueKind<boolean> = {
  placeholder: "on|off",
  preset: "on",
  parse(given) {
    if (given === "on" || given === "off") return given === "on";
    throw new InvalidArgumentError("must be on or off.");
  },
  format: (value) => (value ? "on" : "off"),
};

/** A rate; 0 means no limit. */
export const rateLimit: ValueKind<Rate | 0> = {
  placeholder: "RATE",
  parse: (given) => parseRate(rateText.parse(given)) ?? 0,
  format: (value) => (value === 0 ? "0" : formatRate(value)),
};

const rateText = read("RATE", RATE_LIMIT, (value) => value);

/** A limit for a number of orders; 0: no limit. */
export const orderLimit = read("N", ORDER_LIMIT, String);

/** An address and a port. `0` turns the listener off and gives null. */
export const endpoint: ValueKind<Endpoint | null> = {
  placeholder: "ADDRESS:PORT",
  parse(given) {
    if (given === "0") return null;
    const [, v6, host, number] = ENDPOINT.exec(given) ?? [];
    if (number === undefined || Number(number) > 65_535) {
      throw new InvalidArgumentError("must be an address and a port, such as 127.0.0.1:9090.");
    }
    return { host: (v6 ?? host)!, port: Number(number) };
  },
  format: (value) => (value === null ? "" : formatEndpoint(value)),
};

/** A size in bytes. */
export const size: ValueKind<number> = {
  placeholder: "SIZE",
  parse(given) {
    const bytes = parseSize(given);
    if (bytes === null) throw new InvalidArgumentError("must be a size such as 64MiB or 1GB.");
    return bytes;
  },
  format: formatSize,
};

/** A share from 0 to 1. */
export const share: ValueKind<number> = {
  placeholder: "SHARE",
  parse(given) {
    if (given === "all") return 1;
    if (given === "none") return 0;
    const percent = Number(PERCENTAGE.exec(given)?.[1] ?? Number.NaN);
    if (percent <= 100) return percent / 100;
    throw new InvalidArgumentError("must be all, none or a share such as 1%.");
  },
  format(value) {
    if (value === 1) return "all";
    return value === 0 ? "none" : `${Number((value * 100).toFixed(6))}%`;
  },
};

export function formatEndpoint(value: Endpoint): string {
  return `${value.host.includes(":") ? `[${value.host}]` : value.host}:${value.port}`;
}

/** The base URL for browsers: protocol, host and port. */
export const origin: ValueKind<string> = {
  placeholder: "URL",
  parse(given) {
    const url = URL.canParse(given) ? new URL(given) : null;
    const isWeb = url !== null && /^https?:$/.test(url.protocol);
    if (
      isWeb &&
      url.pathname === "/" &&
      url.search === "" &&
      url.hash === "" &&
      url.username === ""
    ) {
      return url.origin;
    }
    throw new InvalidArgumentError(
      "must be an address such as https://panel.example, without a path.",
    );
  },
  format: (value) => value,
};

/** An amount in micros. */
export const amount = read("USD", PRICE, formatMicros);
