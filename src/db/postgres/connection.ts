// One connection to the primary among the hosts, reserved for as long as it lives, with its own time-out: Bun's client
// has none, reconnects silently, and would let the rest of a transaction commit statement by statement.

import { SQL } from "bun";
import { type Address, type Host, isSocket } from "./address.ts";
import { NoPrimaryError, errorClassOf } from "./errors.ts";

type Row = Record<string, unknown>;
export type Rows = Row[] & { count: number; command: string };

export interface Statement {
  text: string;
  values: readonly (string | null)[];
}

export interface ConnectionOptions {
  /** For one turn: after that the connection is given up. */
  turnMs: number;
  connectMs: number;
  /** Shown in pg_stat_activity. */
  name: string;
  /** Sent to it once it is open, each as `SET name = value`. */
  settings: Readonly<Record<string, string>>;
}

/** While a turn takes longer, the other hosts are asked again and again whether one has become the primary. */
const SLOW_MS = 1000;

export class Connection {
  #isLost = false;

  constructor(
    readonly pool: SQL,
    readonly reserved: Bun.ReservedSQL,
    readonly turnMs: number,
    /** Resolves with whether another host takes writes. */
    readonly isReplaced: () => Promise<boolean>,
  ) {}

  get isLost(): boolean {
    return this.#isLost;
  }

  /**
   * Sends all statements at once and resolves with their results once the last is there. Throws the first failure, after
   * all have ended: what follows a failure in a transaction fails too, COMMIT included.
   */
  async turn(statements: readonly Statement[], turnMs = this.turnMs): Promise<Rows[]> {
    const timer = setTimeout(() => this.close(), turnMs);
    let slow: Timer | null = null;
    const watch = () => (slow = setTimeout(ask, SLOW_MS));
    // A machine that lost its power closes no connection: its standby has been promoted long before the time is up.
    const ask = async () => {
      if (await this.isReplaced()) this.close();
      else if (slow) watch();
    };
    watch();
    try {
      const sent = statements.map(({ text, values }) => this.#send(text, values));
      const settled = await Promise.allSettled(sent);
      const failed = settled.find((each) => each.status === "rejected");
      if (failed) throw failed.reason;
      return settled.map((each) => (each as PromiseFulfilledResult<Rows>).value);
    } finally {
      clearTimeout(timer);
      if (slow) clearTimeout(slow);
      slow = null;
    }
  }

  /** Closes the socket and cancels nothing: what is under way on the server completes there, or is rolled back. */
  close(): void {
    if (this.#isLost) return;
    this.#isLost = true;
    // It resolves once all queries were rejected; an error of closing changes nothing.
    this.pool.close({ timeout: 0 }).catch(() => {});
  }

  /** Without parameters `unsafe` would use the simple protocol, which lets no other statement follow in the same turn. */
  async #send(text: string, values: readonly (string | null)[]): Promise<Rows> {
    const { reserved } = this;
    return (await (values.length > 0
      ? reserved.unsafe(text, values as (string | null)[])
      : reserved(templateOf(text)))) as Rows;
  }
}

/**
 * Opens a connection to the host that takes writes. All are asked at once: one whose machine is lost says nothing. Throws
 * NoPrimaryError, or what a host said.
 */
export async function connect(address: Address, options: ConnectionOptions): Promise<Connection> {
  const attempts = address.hosts.map((host) => connectTo(host, address, options));
  try {
    const first = await Promise.any(attempts);
    for (const attempt of attempts) {
      // What fails now is of no interest any more.
      attempt.then((other) => other !== first && other.close()).catch(() => {});
    }
    return first;
  } catch (error) {
    const { errors } = error as AggregateError;
    // A host that may yet become the primary is worth waiting for, whatever the others say.
    const lost = errors.filter((each) => errorClassOf(each) === "lost");
    throw lost.find((each) => !(each instanceof NoPrimaryError)) ?? lost[0] ?? errors[0];
  }
}

async function takesWrites(address: Address, options: ConnectionOptions): Promise<boolean> {
  if (address.hosts.length === 0) return false;
  try {
    const connection = await connect(address, options);
    connection.close();
    return true;
  } catch {
    return false;
  }
}

async function connectTo(
  host: Host,
  address: Address,
  options: ConnectionOptions,
): Promise<Connection> {
  const { hostname, port } = host;
  const { turnMs, connectMs, name, settings } = options;
  const { username, password, database, sslMode, ca } = address;
  const pool = new SQL({
    adapter: "postgres",
    ...(isSocket(host) ? { path: hostname } : { hostname }),
    port,
    username,
    password,
    database,
    tls: ca === null ? sslMode : { ca },
    max: 1,
    idleTimeout: 0,
    maxLifetime: 0,
    connectionTimeout: Math.ceil(connectMs / 1000),
    connection: { application_name: name },
  } as ConstructorParameters<typeof SQL>[0]);
  const timer = setTimeout(() => void pool.close({ timeout: 0 }).catch(() => {}), connectMs);
  try {
    const others = { ...address, hosts: address.hosts.filter((each) => each !== host) };
    const isReplaced = () => takesWrites(others, options);
    const connection = new Connection(pool, await pool.reserve(), turnMs, isReplaced);
    const [facts] = await connection.turn([{ text: FACTS, values: [] }], connectMs);
    const { standby, sync } = facts![0] as { standby: boolean; sync: string };
    if (standby) throw new NoPrimaryError("the host is a standby");
    const sets = Object.entries(settings);
    // Where the role or the server has less, an acknowledged commit could be lost.
    if (/^(off|local|remote_write)$/.test(sync)) sets.push(["synchronous_commit", "on"]);
    await connection.turn(
      sets.map(([setting, value]) => ({ text: `SET ${setting} = ${value}`, values: [] })),
      connectMs,
    );
    return connection;
  } catch (error) {
    pool.close({ timeout: 0 }).catch(() => {});
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

const FACTS = `SELECT pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on' AS standby,
  current_setting('synchronous_commit') AS sync`;

const templates = new Map<string, TemplateStringsArray>();

function templateOf(text: string): TemplateStringsArray {
  let template = templates.get(text);
  if (!template) {
    const raw = { value: Object.freeze([text]) };
    template = Object.freeze(
      Object.defineProperty([text], "raw", raw),
    ) as unknown as TemplateStringsArray;
    templates.set(text, template);
  }
  return template;
}
