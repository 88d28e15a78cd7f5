// One connection to the primary among the hosts, reserved for its lifetime, with its own time-out. Bun's client has no
// time-out. It also reconnects silently, after which the rest of a transaction would be committed statement by
// statement.

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
  /** Time limit for one turn, after which the connection is given up. */
  turnMs: number;
  connectMs: number;
  /** Shown in pg_stat_activity. */
  name: string;
  /** Sent when the connection opens, each as `SET name = value`. */
  settings: Readonly<Record<string, string>>;
  /** Called while a COMMIT waits for a synchronous standby, at the earliest after STANDBY_WAIT_MS. */
  onStandbyWait?: () => void;
}

/** Duration of a turn after which the other hosts are asked repeatedly whether one has become the primary. */
const SLOW_MS = 1000;
/** Time limit for a connection that is tried again if it fails. */
export const CONNECT_MS = 5000;
/**
 * Time limit for a connection that is tried only once, such as a command's. It equals the time for which a write waits
 * for a primary.
 */
export const CONNECT_ONCE_MS = 15_000;
/** Duration of a COMMIT after which onStandbyWait is called: longer than a standby needs to follow a new primary. */
export const STANDBY_WAIT_MS = 5000;
/** Pause before a host that is not the primary is asked again while another host is silent. */
const RETRY_MS = 200;

export class Connection {
  #isLost = false;

  constructor(
    readonly pool: SQL,
    readonly reserved: Bun.ReservedSQL,
    readonly turnMs: number,
    /**
     * Called every second of a slow turn with its duration so far. Resolves with whether another host is the primary.
     */
    readonly isReplaced: (slowMs: number) => Promise<boolean>,
  ) {}

  get isLost(): boolean {
    return this.#isLost;
  }

  /**
   * Sends all statements at once and resolves with their results. Throws the first failure after all have ended. In a
   * transaction, all statements after a failure fail too, including COMMIT.
   */
  async turn(statements: readonly Statement[], turnMs = this.turnMs): Promise<Rows[]> {
    const timer = setTimeout(() => this.close(), turnMs);
    let slow: Timer | null = null;
    const started = performance.now();
    const watch = () => (slow = setTimeout(ask, SLOW_MS));
    // A machine that loses its power closes no connection, but its standby is promoted long before the time limit.
    const ask = async () => {
      if (await this.isReplaced(performance.now() - started)) this.close();
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

  /** Closes the socket without cancelling: running statements complete on the server or are rolled back. */
  close(): void {
    if (this.#isLost) return;
    this.#isLost = true;
    // Resolves once all queries are rejected. An error while closing changes nothing.
    this.pool.close({ timeout: 0 }).catch(() => {});
  }

  /**
   * Sends one statement. Without parameters, `unsafe` would use the simple protocol, after which no other statement can
   * follow in the same turn.
   */
  async #send(text: string, values: readonly (string | null)[]): Promise<Rows> {
    const { reserved } = this;
    return (await (values.length > 0
      ? reserved.unsafe(text, values as (string | null)[])
      : reserved(templateOf(text)))) as Rows;
  }
}

/** A search for the primary that asks all hosts at once. */
class Search {
  #silent: number;
  readonly #end = Promise.withResolvers<void>();
  isOver = false;

  constructor(hosts: number) {
    this.#silent = hosts;
  }

  /** Notes the first reply of a host. Once all hosts have replied, none is asked again. */
  noteSpoken(): void {
    this.#silent -= 1;
    if (this.#silent === 0) this.end();
  }

  end(): void {
    this.isOver = true;
    this.#end.resolve();
  }

  /** Pauses, then resolves with whether to ask again. */
  async pause(): Promise<boolean> {
    await Promise.race([Bun.sleep(RETRY_MS), this.#end.promise]);
    return !this.isOver;
  }
}

/**
 * Opens a connection to the host that takes writes. All hosts are asked at once, because a host whose machine is lost
 * never replies. Throws NoPrimaryError or the error of a host.
 */
export async function connect(address: Address, options: ConnectionOptions): Promise<Connection> {
  const search = new Search(address.hosts.length);
  const attempts = address.hosts.map((host) => askHost(host, address, options, search));
  try {
    const first = await Promise.any(attempts);
    search.end();
    for (const attempt of attempts) {
      // Later failures no longer matter.
      attempt.then((other) => other !== first && other.close()).catch(() => {});
    }
    return first;
  } catch (error) {
    const { errors } = error as AggregateError;
    // Prefers the error of a host that may still become the primary, because the caller waits for that.
    const lost = errors.filter((each) => errorClassOf(each) === "lost");
    throw lost.find((each) => !(each instanceof NoPrimaryError)) ?? lost[0] ?? errors[0];
  }
}

/**
 * Connects to a host. If it is not the primary, asks it again while another host is silent: it may be promoted long
 * before the silent one is given up.
 */
async function askHost(
  host: Host,
  address: Address,
  options: ConnectionOptions,
  search: Search,
): Promise<Connection> {
  const deadline = performance.now() + options.connectMs;
  for (let isFirst = true; ; isFirst = false) {
    try {
      const connectMs = Math.max(deadline - performance.now(), RETRY_MS);
      return await connectTo(host, address, { ...options, connectMs });
    } catch (error) {
      if (isFirst) search.noteSpoken();
      if (errorClassOf(error) !== "lost" || !(await search.pause())) throw error;
    }
  }
}

async function acceptsWrites(address: Address, options: ConnectionOptions): Promise<boolean> {
  if (address.hosts.length === 0) return false;
  try {
    const connection = await connect(address, options);
    connection.close();
    return true;
  } catch {
    return false;
  }
}

/** Resolves with whether the session `backend` has committed on the primary and waits for a standby to confirm. */
async function waitsForStandby(
  backend: string,
  address: Address,
  { turnMs, connectMs, name }: ConnectionOptions,
): Promise<boolean> {
  try {
    const connection = await connect(address, { turnMs, connectMs, name, settings: {} });
    try {
      const [rows] = await connection.turn([{ text: STANDBY_WAIT, values: [backend] }], connectMs);
      return rows!.length > 0;
    } finally {
      connection.close();
    }
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
    let backend: string | null = null;
    const isReplaced = async (slowMs: number) => {
      const here = { ...address, hosts: [host] };
      if (backend !== null && slowMs >= STANDBY_WAIT_MS) {
        if (await waitsForStandby(backend, here, options)) options.onStandbyWait?.();
      }
      return acceptsWrites(others, options);
    };
    const connection = new Connection(pool, await pool.reserve(), turnMs, isReplaced);
    const [facts] = await connection.turn([{ text: HOST_STATE, values: [] }], connectMs);
    const { standby, sync, pid } = facts![0] as { standby: boolean; sync: string; pid: string };
    if (standby) throw new NoPrimaryError("the host is a standby");
    if (options.onStandbyWait) backend = pid;
    const sets = Object.entries(settings);
    // A lower setting of the role or the server could lose an acknowledged commit.
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

const HOST_STATE = `SELECT pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on' AS standby,
  current_setting('synchronous_commit') AS sync, pg_backend_pid()::text AS pid`;
const STANDBY_WAIT =
  "SELECT 1 FROM pg_stat_activity WHERE pid = $1::int AND wait_event = 'SyncRep'";

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
