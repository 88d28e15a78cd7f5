// Failures of the machines under load, as docs/postgres.md asks for before the first real order. After each: one leader, no two
// machines that took writes, nothing acknowledged lost, and the old leader back without a new copy.

import { audit, describeFindings, isClean } from "../failover/audit.ts";
import { SERVICES } from "../failover/binary-servers.ts";
import { type Entry, Journal } from "../failover/journal.ts";
import type { Cluster } from "./cluster.ts";
import { type Machines, soon } from "../../support/machines.ts";
import { Writers } from "./writers.ts";

const SEED = 1;
const ORDERS = 20;
const RESUME_LIMIT_MS = 180_000;
/** A machine stays cut off for longer than Patroni's `ttl` of 20 s. */
const CUT_MS = 35_000;
/** Whether a leader that was cut off takes the lock back depends on the moment at which it is connected again. */
const CUTS = 3;
/** More than Patroni's own wal_keep_size of 128 MB, so that a machine that is away needs what the guide keeps. */
const SEGMENTS = 24;

export async function drill(
  machines: Machines,
  cluster: Cluster,
  servers: readonly string[],
  say: (text: string) => void,
): Promise<void> {
  const first = await cluster.ready();
  const keys = fill(machines);
  cluster.psql(first, "postgres", "CREATE DATABASE written");
  cluster.psql(first, "written", "CREATE TABLE writes (machine text, begun bigint)");
  const writers = new Writers(machines);
  for (const name of cluster.names) writers.start(name);
  const callers = new Callers(machines, keys, servers);

  /** `expected`: how many machines took writes, one after the other. */
  const attempt = async (
    what: string,
    expected: number,
    fail: (leader: string) => Promise<void>,
  ): Promise<void> => {
    const leader = await cluster.ready();
    await callers.more(ORDERS);
    writers.turns();
    callers.watchGap();
    const since = Date.now();
    await fail(leader);
    const next = await cluster.ready();
    await callers.more(ORDERS);
    const turns = writers.turns();
    const gap = (callers.gapMs / 1000).toFixed(1);
    say(`${what}: ${leader}, then ${next}; no order for ${gap} s`);
    if (turns.length > expected || new Set(turns).size !== turns.length) {
      throw new Error(`${what}: two machines took writes: ${turns.join(", ")}`);
    }
    const log = cluster.names.map((name) => cluster.log(name, since)).join("\n");
    if (log.includes("replica has been created")) throw new Error(`${what}: copied anew:\n${log}`);
  };

  const cutOff = async (leader: string): Promise<void> => {
    const since = Date.now();
    machines.cut(leader);
    const next = await otherLeader(cluster, leader);
    await callers.more(ORDERS);
    passOverWal(cluster, next);
    await Bun.sleep(Math.max(0, since + CUT_MS - Date.now()));
    const state = machines.try(
      leader,
      "runuser -u postgres -- psql -AtXc 'SELECT pg_is_in_recovery()'",
    );
    if (state.stdout.trim() === "f") throw new Error(`${leader} is cut off and still a primary`);
    machines.cut(leader, false);
    const isRewound = () => cluster.log(leader, since).includes("pg_rewind exit code=0") || null;
    await soon(`${leader} comes back by pg_rewind`, isRewound, RESUME_LIMIT_MS);
  };

  await attempt("switchover", 2, async (leader) => {
    const { exitCode, stdout, stderr } = cluster.tool(leader, "patronictl switchover --force");
    if (exitCode !== 0) throw new Error(`no switchover: ${stdout}${stderr}`);
    await otherLeader(cluster, leader);
  });
  await attempt("PostgreSQL of the leader killed", 2, async (leader) => {
    machines.run(leader, "kill -9 $(head -1 /var/lib/postgresql/reseller/data/postmaster.pid)");
    await callers.more(ORDERS);
  });
  await attempt("machine of the leader off", 2, async (leader) => {
    await machines.kill(leader);
    const next = await otherLeader(cluster, leader);
    await callers.more(ORDERS);
    passOverWal(cluster, next);
    await machines.start(leader);
    writers.start(leader);
  });
  for (let round = 0; round < CUTS; round += 1) {
    await attempt("network of the leader cut", 2, (leader) => cutOff(leader));
  }
  await attempt("one server killed", 1, async () => {
    machines.run("app1", "kill -9 $(systemctl show --property=MainPID --value reseller)");
    await callers.more(ORDERS);
  });

  const leader = await cluster.ready();
  const journal = await callers.settle();
  const lost = writers.lost(leader);
  if (lost.length > 0) throw new Error(`acknowledged by PostgreSQL and lost: ${lost.join("; ")}`);
  const findings = await audit(journal, async (text) => cluster.rows(leader, text));
  if (!isClean(findings)) throw new Error(describeFindings(findings));
  const counts = `${journal.acknowledged} orders acknowledged, ${writers.acknowledged} writes beside`;
  say(`${counts}; ${describeFindings(findings)}`);
}

/** Once another machine leads. */
async function otherLeader(cluster: Cluster, old: string): Promise<string> {
  return cluster.ready(cluster.names.filter((name) => name !== old));
}

/** Writes so much WAL that PostgreSQL removes what is not kept on purpose. */
function passOverWal(cluster: Cluster, leader: string): void {
  for (let segment = 0; segment < SEGMENTS; segment += 1) {
    cluster.psql(leader, "postgres", "SELECT pg_switch_wal()");
  }
  cluster.psql(leader, "postgres", "CHECKPOINT");
}

/** Through the command line of the first server; returns a reseller's key. */
function fill(machines: Machines): string {
  const admin = (command: string) => {
    return machines.run("app1", `runuser -u reseller -- reseller admin ${command}`);
  };
  for (const { id } of SERVICES) {
    admin(`service create --id ${id} --name Followers --price 0.01 --per 1 --min 1 --max 1000`);
  }
  admin("user create alice");
  admin("user credit alice 1000000 --yes");
  return (JSON.parse(admin("key create --user alice --type order --json")) as { key: string }).key;
}

/** Callers of the servers, in a process of their own because they are in the machines' network. */
class Callers {
  readonly #process;
  readonly #lines: string[] = [];
  readonly #ended: Promise<void>;
  #acknowledged = 0;
  #lastChange = Date.now();
  #longestGap = 0;

  constructor(machines: Machines, keys: string, servers: readonly string[]) {
    const program = new URL("caller.ts", import.meta.url).pathname;
    const urls = servers.map((address) => `http://${address}:8080`);
    const command = machines.inNetworkOf("app1", process.execPath, program, String(SEED), keys);
    this.#process = Bun.spawn([...command, ...urls], {
      stdin: "pipe",
      stdout: "pipe",
      stderr: "inherit",
    });
    this.#ended = this.#read(this.#process.stdout);
  }

  get gapMs(): number {
    return Math.max(this.#longestGap, Date.now() - this.#lastChange);
  }

  watchGap(): void {
    this.#longestGap = 0;
  }

  async more(count: number): Promise<void> {
    const goal = this.#acknowledged + count;
    const isThere = () => this.#acknowledged >= goal || null;
    await soon(`${count} orders acknowledged`, isThere, RESUME_LIMIT_MS);
  }

  /** Ends them once every order that may be sent again is answered. */
  async settle(): Promise<Journal> {
    await this.#process.stdin.end();
    await this.#ended;
    const { entries, faults } = JSON.parse(this.#lines.at(-1)!) as {
      entries: [string, Entry][];
      faults: string[];
    };
    const journal = new Journal();
    for (const [name, { fate, orderId }] of entries) {
      journal.sent(name);
      if (fate !== "sent") journal.answered(name, fate, 0, orderId);
    }
    journal.faults.push(...faults);
    return journal;
  }

  async #read(stream: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    let rest = "";
    for await (const chunk of stream) {
      const lines = `${rest}${decoder.decode(chunk, { stream: true })}`.split("\n");
      rest = lines.pop()!;
      this.#lines.splice(0, this.#lines.length, ...lines);
      for (const line of lines) this.#count(Number(line));
    }
  }

  /** NaN for the last line, which is no number. */
  #count(acknowledged: number): void {
    if (!(acknowledged > this.#acknowledged)) return;
    const now = Date.now();
    this.#longestGap = Math.max(this.#longestGap, now - this.#lastChange);
    this.#lastChange = now;
    this.#acknowledged = acknowledged;
  }
}
