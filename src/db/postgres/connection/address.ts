// Parses addresses of databases:
// postgres://user:password@host1,host2:5433/database?sslmode=verify-full&sslrootcert=/path
// An address can have several hosts, one of which is the primary. Bun's client takes only one. Unknown parameters are
// refused, not ignored. As in libpq, a host that begins with a slash (%2Fvar%2Frun%2Fpostgresql) is the folder of a
// Unix socket.

import { readFileSync } from "node:fs";

export interface Host {
  /** A host name or address, or the folder of a Unix socket (see isSocket). */
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
  /** The certificate of the certificate authority, as PEM text; null uses the system's authorities. */
  ca: string | null;
}

/** Thrown for a wrong address. The message does not repeat the address, because it may contain a password. */
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

/**
 * Returns whether the host is a folder with a Unix socket on this machine. The port is then part of the socket's name.
 */
export function isSocket({ hostname }: Host): boolean {
  return hostname.startsWith("/");
}

/** Returns the address without user and password, for messages and the log. */
export function describeAddress({ hosts, database }: Address): string {
  const names = hosts.map((host) => {
    const { hostname, port } = host;
    if (isSocket(host)) return `${encodeURIComponent(hostname)}:${port}`;
    return hostname.includes(":") ? `[${hostname}]:${port}` : `${hostname}:${port}`;
  });
  return `postgres://${names.join()}/${database}`;
}

/** Parses the hosts. Those without a port get the port of the last host. */
function parseHosts(text: string): Host[] {
  const found = text.split(",").map((each) => {
    const match = HOST.exec(each);
    if (!match) throw new AddressError("contains an invalid host name or address");
    const port = match[2] === undefined ? null : Number(match[2]);
    if (port !== null && (port < 1 || port > 65_535)) {
      throw new AddressError("contains a port that is not between 1 and 65535");
    }
    return { hostname: decode(match[1]!.replace(/^\[|\]$/g, "")), port };
  });
  const lastPort = found.at(-1)!.port ?? DEFAULT_PORT;
  return found.map(({ hostname, port }) => ({ hostname, port: port ?? lastPort }));
}

function readParameters(parameters: URLSearchParams): { sslMode: SslMode; ca: string | null } {
  const unknown = [...parameters.keys()].find((name) => !/^(sslmode|sslrootcert)$/.test(name));
  if (unknown !== undefined) {
    throw new AddressError(`has an unknown parameter; only sslmode and sslrootcert are supported`);
  }
  const sslMode = parameters.get("sslmode") ?? "disable";
  if (!SSL_MODES.includes(sslMode)) {
    throw new AddressError(`has an unknown sslmode; supported: ${SSL_MODES.join(", ")}`);
  }
  const file = parameters.get("sslrootcert");
  if (file !== null && sslMode !== "verify-full") {
    throw new AddressError("must set sslmode=verify-full when it sets sslrootcert");
  }
  return { sslMode: sslMode as SslMode, ca: file === null ? null : readCertificate(file) };
}

function readCertificate(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    throw new AddressError(`sets an sslrootcert file that cannot be read (${code})`);
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new AddressError("has a % that does not begin a valid escape such as %20");
  }
}
