// One PostgreSQL server of a pair: killed as by a power cut, promoted, and brought back behind the other one.

import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SQL } from "bun";
import { childrenOf } from "../../support/children.ts";
import {
  giveToPostgres,
  asPostgres,
  binaries,
  stopWithThisProcess,
} from "../../support/databases/postgres.ts";
import { ACCEPTS, firstLogged } from "./postgres-log.ts";
import { killAll } from "./processes.ts";
import { freePort } from "../../support/ports.ts";

/**
 * In the file, for pg_rewind recovers a killed server by itself and needs the hints. No socket file: its lock would name
 * the killed process. What a power cut takes from a disk is not what is tried here.
 */
const SETTINGS = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  max_connections: "60",
  wal_log_hints: "on",
  wal_keep_size: "256MB",
  fsync: "off",
  wal_receiver_status_interval: "1s",
  wal_retrieve_retry_interval: "100ms",
};

export class Node {
  readonly folder = mkdtempSync(join(tmpdir(), "reseller-node-"));
  readonly data = join(this.folder, "data");

  private constructor(
    readonly name: string,
    readonly port: number,
  ) {
    giveToPostgres(this.folder);
    stopWithThisProcess(this.data, this.folder);
  }

  /** An empty one that runs. */
  static async create(name: string): Promise<Node> {
    const node = new Node(name, freePort());
    const access = ["-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C"];
    await node.#run("initdb", "-D", node.data, "--no-sync", ...access);
    const lines = Object.entries(SETTINGS).map(([setting, value]) => `${setting} = '${value}'\n`);
    appendFileSync(join(node.data, "postgresql.conf"), lines.join(""));
    await node.start();
    return node;
  }

  /** One that runs as a standby of `primary`. */
  static async standbyOf(primary: Node, name: string): Promise<Node> {
    const node = new Node(name, freePort());
    await node.copyFrom(primary);
    return node;
  }

  get pid(): number {
    return Number(readFileSync(join(this.data, "postmaster.pid"), "utf8").split("\n")[0]);
  }

  async start(): Promise<void> {
    const log = join(this.folder, "log");
    const command = ["-D", this.data, "-l", log, "-w", "-s", "-o", `-p ${this.port}`, "start"];
    await this.#run("pg_ctl", ...command);
  }

  async stop(mode: "fast" | "immediate"): Promise<void> {
    await this.#run("pg_ctl", "-D", this.data, "-m", mode, "-w", "-s", "stop");
  }

  /** As a machine without power is to others: its connections stay, and nothing answers. */
  freeze(): void {
    const { pid } = this;
    for (const each of [pid, ...childrenOf(pid)]) process.kill(each, "SIGSTOP");
  }

  thaw(): void {
    const { pid } = this;
    for (const each of [pid, ...childrenOf(pid)]) process.kill(each, "SIGCONT");
  }

  /** When it first took writes after `since`, in milliseconds since 1970. */
  acceptsSince(since: number): number {
    const accepts = firstLogged(join(this.folder, "log"), ACCEPTS, since);
    if (accepts === null)
      throw new Error(`the log of ${this.name} does not tell when it took writes`);
    return accepts;
  }

  /** Every process of it at once. */
  async kill(): Promise<void> {
    const { pid } = this;
    await killAll([pid, ...childrenOf(pid)]);
    // A process whose parent has not collected it would be taken for a server that still runs.
    rmSync(join(this.data, "postmaster.pid"), { force: true });
  }

  async promote(): Promise<void> {
    await this.#run("pg_ctl", "-D", this.data, "-w", "-s", "promote");
  }

  /** From a killed primary to a standby of the new one: by pg_rewind where that can be. */
  async follow(primary: Node): Promise<"rewound" | "copied"> {
    // pg_rewind asks for the timeline of the last checkpoint, which a promotion does not wait for.
    await primary.query("postgres", "CHECKPOINT");
    try {
      const source = `host=127.0.0.1 port=${primary.port} user=postgres dbname=postgres`;
      const { data } = this;
      await this.#run("pg_rewind", "-D", data, "--no-sync", "--source-server", source);
    } catch {
      await this.copyFrom(primary);
      return "copied";
    }
    this.#beStandbyOf(primary);
    await this.start();
    return "rewound";
  }

  async copyFrom(primary: Node): Promise<void> {
    if (existsSync(this.data)) rmSync(this.data, { recursive: true });
    const from = ["-h", "127.0.0.1", "-p", String(primary.port), "-U", "postgres"];
    const how = ["-X", "stream", "-c", "fast", "--no-sync"];
    await this.#run("pg_basebackup", "-D", this.data, ...from, ...how);
    this.#beStandbyOf(primary);
    await this.start();
  }

  async query(database: string, text: string): Promise<Record<string, unknown>[]> {
    return queryPort(this.port, database, text);
  }

  /** Whether a standby must have a transaction before it is acknowledged. */
  async setSynchronous(isSynchronous: boolean): Promise<void> {
    const names = isSynchronous ? "*" : "";
    await this.query("postgres", `ALTER SYSTEM SET synchronous_standby_names = '${names}'`);
    await this.query("postgres", "SELECT pg_reload_conf()");
  }

  /** Resolves once a standby has all there is, and is waited for where that is asked. */
  async standbyHere(state: "sync" | "async", limitMs = 30_000): Promise<void> {
    const deadline = performance.now() + limitMs;
    for (;;) {
      const rows = await this.query(
        "postgres",
        `SELECT sync_state FROM pg_stat_replication WHERE state = 'streaming' AND sync_state = '${state}'`,
      );
      if (rows.length > 0) return;
      if (performance.now() > deadline) throw new Error(`no ${state} standby of ${this.name}`);
      await Bun.sleep(20);
    }
  }

  /** One of PostgreSQL's programs, to its end. */
  async #run(program: string, ...options: string[]): Promise<void> {
    const child = Bun.spawn([...asPostgres(), join(binaries(), program), ...options], {
      cwd: this.folder,
      stdout: "ignore",
      stderr: "pipe",
    });
    const text = await child.stderr.text();
    if ((await child.exited) !== 0) throw new Error(`${program} failed: ${text}`);
  }

  #beStandbyOf(primary: Node): void {
    const source = `host=127.0.0.1 port=${primary.port} user=postgres application_name=${this.name}`;
    writeFileSync(join(this.data, "standby.signal"), "");
    const file = join(this.data, "postgresql.auto.conf");
    // The last line wins.
    const text = `${readFileSync(file, "utf8")}\nprimary_conninfo = '${source}'\n`;
    writeFileSync(file, text);
    giveToPostgres(file);
    giveToPostgres(join(this.data, "standby.signal"));
  }
}

/** As an administrator. */
export async function queryPort(
  port: number,
  database: string,
  text: string,
): Promise<Record<string, unknown>[]> {
  const where = { hostname: "127.0.0.1", port, username: "postgres", database };
  const sql = new SQL({ adapter: "postgres", max: 1, connectionTimeout: 10, ...where });
  try {
    return (await sql.unsafe(text)) as Record<string, unknown>[];
  } finally {
    await sql.close();
  }
}
