// Three PostgreSQL servers that Patroni runs, with etcd, all on this machine: as docs/postgres.md says, but for the
// addresses, the temporary folders and a single etcd.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { childrenOf } from "../../support/children.ts";
import {
  asPostgres,
  binaries,
  giveToPostgres,
  stopWithThisProcess,
} from "../../support/databases/postgres.ts";
import { queryPort } from "./node.ts";
import { ACCEPTS, firstLogged, HAS_STANDBY } from "./postgres-log.ts";
import { killAll } from "./processes.ts";
import { freePort } from "../../support/ports.ts";

const SCOPE = "reseller";
const DATABASE = "reseller";
const MEMBERS = 3;
const READY_LIMIT_MS = 180_000;

/** Seconds. */
export interface Timing {
  ttl: number;
  loopWait: number;
  retryTimeout: number;
}

/** What Patroni has where nothing is set. */
const USUAL: Timing = { ttl: 30, loopWait: 10, retryTimeout: 10 };

/** `ttl`: null for Patroni's own. With 20 it is what docs/postgres.md says. */
function timingOf(ttl: number | null): Timing {
  if (ttl === null) return USUAL;
  return { ttl, loopWait: 0.15 * ttl, retryTimeout: ttl / 4 };
}

export interface Member {
  name: string;
  port: number;
  apiPort: number;
  folder: string;
  patroni: Bun.Subprocess;
}

interface State {
  name: string;
  role: string;
  state: string;
}

export interface ClusterOptions extends Timing {
  /** Whether the leader goes on without etcd as long as it reaches all others. */
  failsafe: boolean;
}

/** A cluster with an empty database. `address` names all hosts; `ask`: of the leader. */
export async function startWithDatabase(ttl: number | null, failsafe: boolean) {
  const timing = timingOf(ttl);
  const cluster = await PatroniCluster.start({ ...timing, failsafe });
  const askIn = async (database: string, text: string) =>
    queryPort((await cluster.leader()).port, database, text);
  await askIn("postgres", `CREATE DATABASE ${DATABASE}`);
  const hosts = cluster.members.map(({ port }) => `127.0.0.1:${port}`).join();
  const addressAt = (where: string) => `postgres://postgres@${where}/${DATABASE}`;
  const ask = (text: string) => askIn(DATABASE, text);
  return { timing, cluster, ask, addressAt, address: addressAt(hosts) };
}

export class PatroniCluster {
  readonly members: Member[] = [];
  #etcd: Bun.Subprocess;

  private constructor(
    readonly etcdCommand: readonly string[],
    readonly etcdFolder: string,
    readonly etcdPort: number,
    readonly options: ClusterOptions,
  ) {
    this.#etcd = spawnServer(etcdCommand, etcdFolder);
  }

  static async start(clusterOptions: ClusterOptions): Promise<PatroniCluster> {
    const folder = mkdtempSync(join(tmpdir(), "reseller-etcd-"));
    giveToPostgres(folder);
    const [port, peerPort] = [freePort(), freePort()];
    const [client, peer] = [port, peerPort].map((each) => `http://127.0.0.1:${each}`);
    const options = {
      name: "etcd",
      "data-dir": join(folder, "data"),
      "listen-client-urls": client,
      "advertise-client-urls": client,
      "listen-peer-urls": peer,
      "initial-advertise-peer-urls": peer,
      "initial-cluster": `etcd=${peer}`,
      "enable-v2": "true",
      // What this machine's disk takes to sync is not what is tried here.
      "unsafe-no-fsync": "true",
    };
    const texts = Object.entries(options).map(([option, value]) => `--${option}=${value}`);
    const cluster = new PatroniCluster(["etcd", ...texts], folder, port, clusterOptions);
    for (let each = 0; each < MEMBERS; each += 1) {
      await cluster.#add(`node${each}`);
      if (each === 0) await cluster.ready(1);
    }
    await cluster.ready();
    return cluster;
  }

  /** The one that takes writes, by the word of Patroni. */
  async leader(): Promise<Member> {
    const leader = (await this.#states()).find(({ role }) => role === "leader");
    if (!leader) throw new Error("the cluster has no leader");
    return this.members.find(({ name }) => name === leader.name)!;
  }

  /** Resolves once so many members run, one of them as the synchronous standby. */
  async ready(count = MEMBERS): Promise<void> {
    const deadline = performance.now() + READY_LIMIT_MS;
    for (;;) {
      const states = (await this.#states()).filter(({ state }) => /running|streaming/.test(state));
      const has = (role: string) => states.some((each) => each.role === role);
      if (states.length === count && has("leader") && (count === 1 || has("sync_standby"))) return;
      if (performance.now() > deadline) {
        throw new Error(`the cluster is not ready: ${JSON.stringify(states)}`);
      }
      await Bun.sleep(200);
    }
  }

  /** As when its machine loses power. */
  async killMachine(member: Member): Promise<void> {
    const postmaster = postmasterOf(member);
    await killAll([member.patroni.pid, postmaster, ...childrenOf(postmaster)]);
    rmSync(join(member.folder, "data", "postmaster.pid"), { force: true });
  }

  /** PostgreSQL alone: Patroni is there and sees it. */
  async killServer(member: Member): Promise<void> {
    const postmaster = postmasterOf(member);
    await killAll([postmaster, ...childrenOf(postmaster)]);
    rmSync(join(member.folder, "data", "postmaster.pid"), { force: true });
  }

  startMachine(member: Member): void {
    member.patroni = startPatroni(member.folder);
  }

  async killEtcd(): Promise<void> {
    await killAll([this.#etcd.pid]);
  }

  /** With what it had. */
  startEtcd(): void {
    this.#etcd = spawnServer(this.etcdCommand, this.etcdFolder);
  }

  /** When a PostgreSQL first took writes after `since`, and when it had its synchronous standby. */
  async promotedAt(since: number): Promise<{ accepts: number; acknowledges: number }> {
    const log = join((await this.leader()).folder, "stderr");
    const accepts = firstLogged(log, ACCEPTS, since);
    if (accepts === null) throw new Error("the leader's log does not tell when it took writes");
    return { accepts, acknowledges: firstLogged(log, HAS_STANDBY, accepts) ?? accepts };
  }

  /** In order, as before maintenance of the leader's machine. */
  async switchOver(): Promise<void> {
    const leader = await this.leader();
    const response = await fetch(`http://127.0.0.1:${leader.apiPort}/switchover`, {
      method: "POST",
      body: JSON.stringify({ leader: leader.name }),
    });
    if (!response.ok) throw new Error(`no switchover: ${await response.text()}`);
  }

  async stop(): Promise<void> {
    for (const member of this.members) await this.killMachine(member);
    await this.killEtcd();
    rmSync(this.etcdFolder, { recursive: true });
  }

  async #add(name: string): Promise<void> {
    const folder = mkdtempSync(join(tmpdir(), `reseller-${name}-`));
    giveToPostgres(folder);
    stopWithThisProcess(join(folder, "data"), folder);
    const [port, apiPort] = [freePort(), freePort()];
    const member = { name, port, apiPort, folder };
    writeFileSync(join(folder, "patroni.yml"), JSON.stringify(this.#settings(member), null, 2));
    this.members.push({ ...member, patroni: startPatroni(folder) });
  }

  /** YAML has JSON within it. */
  #settings({ name, port, apiPort, folder }: Omit<Member, "patroni">): object {
    const { ttl, loopWait, retryTimeout, failsafe } = this.options;
    const sockets = join(folder, "sockets");
    mkdirSync(sockets);
    giveToPostgres(sockets);
    return {
      scope: SCOPE,
      name,
      log: { level: "INFO", dir: folder },
      restapi: { listen: `127.0.0.1:${apiPort}`, connect_address: `127.0.0.1:${apiPort}` },
      etcd: { hosts: [`127.0.0.1:${this.etcdPort}`] },
      bootstrap: {
        dcs: {
          ttl,
          loop_wait: loopWait,
          retry_timeout: retryTimeout,
          failsafe_mode: failsafe,
          synchronous_mode: true,
          synchronous_mode_strict: true,
          postgresql: {
            use_pg_rewind: true,
            parameters: {
              max_connections: 60,
              wal_log_hints: "on",
              wal_retrieve_retry_interval: "500ms",
              fsync: "off",
            },
          },
        },
        initdb: [{ encoding: "UTF8" }, { locale: "C" }, { auth: "trust" }],
      },
      postgresql: {
        listen: `127.0.0.1:${port}`,
        connect_address: `127.0.0.1:${port}`,
        data_dir: join(folder, "data"),
        bin_dir: binaries(),
        pgpass: join(folder, "pgpass"),
        parameters: { unix_socket_directories: sockets },
        pg_hba: [
          "local all all trust",
          "host all all 127.0.0.1/32 trust",
          "host replication all 127.0.0.1/32 trust",
        ],
        authentication: {
          superuser: { username: "postgres", password: "test" },
          replication: { username: "replicator", password: "test" },
        },
      },
    };
  }

  /** As any of them sees the cluster; nothing while none answers. */
  async #states(): Promise<State[]> {
    for (const { apiPort } of this.members) {
      try {
        const signal = AbortSignal.timeout(3000);
        const response = await fetch(`http://127.0.0.1:${apiPort}/cluster`, { signal });
        return ((await response.json()) as { members: State[] }).members;
      } catch {
        // The next one may.
      }
    }
    return [];
  }
}

function startPatroni(folder: string): Bun.Subprocess {
  return spawnServer(["patroni", join(folder, "patroni.yml")], folder);
}

/** It ends with this process. */
function spawnServer(command: readonly string[], folder: string): Bun.Subprocess {
  return Bun.spawn([...asPostgres(), "setpriv", "--pdeathsig=KILL", ...command], {
    cwd: folder,
    env: { PATH: process.env["PATH"], HOME: folder },
    stdout: "ignore",
    stderr: Bun.file(join(folder, "stderr")),
  });
}

function postmasterOf({ folder }: Member): number {
  return Number(readFileSync(join(folder, "data", "postmaster.pid"), "utf8").split("\n")[0]);
}
