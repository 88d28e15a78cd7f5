// postgres://user:password@host1,host2:5433/database?sslmode=verify-full&sslrootcert=/path: several hosts, of which one
// is the primary. Bun's client knows one host alone. Unknown parameters are refused rather than ignored. As in libpq, a host
// that begins with a slash (%2Fvar%2Frun%2Fpostgresql) is the folder of a Unix socket.

import { readFileSync } from "node:fs";

export interface Host {
  /** Or the folder of its Unix socket: isSocket. */
  hostname: string;
  port: number;
}

export type SslMode = "disable" | "require" | "verify-full";

export interface Address {
  hosts: readonly Host[];
  username: string;
  password: string;
  database: string;
  sslMode: SslMode;
  /** The certificate authority's certificate, as PEM text; null: those of the system. */
  ca: string | null;
}

/** The message says what is wrong with the address and never repeats it: it may hold a password. */
export class AddressError extends Error {
  override name = "AddressError";
}

const DEFAULT_PORT = 5432;
const SSL_MODES: readonly string[] = ["disable", "require", "verify-full"] satisfies SslMode[];
const ADDRESS =
  /^postgres(?:ql)?:\/\/(?:([^:@/?#]*)(?::([^@/?#]*))?@)?([^/?#]+)\/([^/?#]+)(?:\?([^#]*))?$/;
const HOST = /^(\[[0-9a-fA-F:.]+\]|[^:[\]]+)(?::(\d{1,5}))?$/;

export function parseAddress(text: string): Address {
  const match = ADDRESS.exec(text);
  if (!match) throw new AddressError("must be postgres://user:password@host:port/database");
  const [, username = "", password = "", hosts, database, parameters = ""] = match;
  const { sslMode, ca } = readParameters(new URLSearchParams(parameters));
  return {
    hosts: parseHosts(hosts!),
    username: decode(username),
    password: decode(password),
    database: decode(database!),
    sslMode,
    ca,
  };
}

/** Whether it is on this machine, behind a Unix socket: its port is a part of the socket's name. */
export function isSocket({ hostname }: Host): boolean {
  return hostname.startsWith("/");
}

/** For messages and the log: without user and password. */
export function describeAddress({ hosts, database }: Address): string {
  const names = hosts.map((host) => {
    const { hostname, port } = host;
    if (isSocket(host)) return `${encodeURIComponent(hostname)}:${port}`;
    return hostname.includes(":") ? `[${hostname}]:${port}` : `${hostname}:${port}`;
  });
  return `postgres://${names.join()}/${database}`;
}

/** The port of the last host stands for those before it that name none. */
function parseHosts(text: string): Host[] {
  const found = text.split(",").map((each) => {
    const match = HOST.exec(each);
    if (!match) throw new AddressError("names a host that is no host name or address");
    const port = match[2] === undefined ? null : Number(match[2]);
    if (port !== null && (port < 1 || port > 65_535)) {
      throw new AddressError("names a port that is not between 1 and 65535");
    }
    return { hostname: decode(match[1]!.replace(/^\[|\]$/g, "")), port };
  });
  const lastPort = found.at(-1)!.port ?? DEFAULT_PORT;
  return found.map(({ hostname, port }) => ({ hostname, port: port ?? lastPort }));
}

function readParameters(parameters: URLSearchParams): { sslMode: SslMode; ca: string | null } {
  const unknown = [...parameters.keys()].find((name) => !/^(sslmode|sslrootcert)$/.test(name));
  if (unknown !== undefined) {
    throw new AddressError(`has a parameter that is not known (sslmode and sslrootcert are)`);
  }
  const sslMode = parameters.get("sslmode") ?? "disable";
  if (!SSL_MODES.includes(sslMode)) {
    throw new AddressError(`must have an sslmode of ${SSL_MODES.join(", ")}`);
  }
  const file = parameters.get("sslrootcert");
  if (file !== null && sslMode !== "verify-full") {
    throw new AddressError("must say sslmode=verify-full where it names sslrootcert");
  }
  return { sslMode: sslMode as SslMode, ca: file === null ? null : readCertificate(file) };
}

function readCertificate(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    throw new AddressError(`names an sslrootcert that cannot be read (${code})`);
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new AddressError("has a % that begins no escape");
  }
}
