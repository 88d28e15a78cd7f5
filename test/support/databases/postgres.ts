// A PostgreSQL of the tests' own: one throw-away cluster for a test process, one database for each test.

import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SQL } from "bun";
import { type Address, parseAddress } from "../../../src/db/postgres/connection/address.ts";
import { migrate } from "../../../src/db/postgres/schema/migrate.ts";
import { freePort } from "../ports.ts";

const VERSIONS = "/usr/lib/postgresql";
/** The server refuses to run as root. */
const USER = "postgres";
/** With the rights that deploy/postgres-role.sql gives. */
export const SERVICE_ROLE = "reseller";
const GRANTS = new URL("../../../deploy/postgres-role.sql", import.meta.url);
/** Migrated once, copied for each test. */
const TEMPLATE = "reseller_template";
const MEMORY = "/dev/shm";
/** Room for three processes: a database is 8 MB, and a file of tests makes up to a hundred. */
const MEMORY_BYTES = 3 * 2 ** 30;

export interface Cluster {
  port: number;
  folder: string;
  /** The process id of the server. */
  pid(): number;
  /** An address of one of its databases, by default one that is fresh and migrated. */
  address(database: string): Address;
  /** For tests of `file`; those of other files are dropped. */
  createDatabase(file?: string): Promise<string>;
  /** As an administrator, with psql's rights. */
  query(database: string, text: string): Promise<Record<string, unknown>[]>;
  stop(mode?: "fast" | "immediate"): void;
  start(): void;
}

let shared: Promise<Cluster> | undefined;
let databases = 0;

/** The cluster of this process, with fsync off: what its machine loses is of no interest. */
export function cluster(): Promise<Cluster> {
  return (shared ??= startCluster({
    fsync: "off",
    full_page_writes: "off",
    synchronous_commit: "off",
  }));
}

/** The address of a database that is fresh and migrated. */
export async function freshPostgres(on?: Cluster): Promise<Address> {
  const server = on ?? (await cluster());
  return server.address(await server.createDatabase());
}

/** A cluster with these settings; its port stays the same over stop and start. It ends with the process. */
export async function startCluster(settings: Record<string, string> = {}): Promise<Cluster> {
  const parent = settings["fsync"] === "off" && isMemoryLarge() ? MEMORY : tmpdir();
  const folder = mkdtempSync(join(parent, "reseller-postgres-"));
  const data = join(folder, "data");
  giveToPostgres(folder);
  const run = (program: string, ...options: string[]) => runPostgres(folder, program, ...options);
  run("initdb", "-D", data, "-A", "trust", "-U", USER, "--no-sync", "-E", "UTF8", "--locale=C");
  const port = freePort();
  const all = {
    port: String(port),
    listen_addresses: "127.0.0.1",
    unix_socket_directories: folder,
    max_connections: "60",
    ...settings,
  };
  const options = Object.entries(all).map(([name, value]) => `-c ${name}='${value}'`);
  const start = () =>
    run(
      "pg_ctl",
      "-D",
      data,
      "-l",
      join(folder, "log"),
      "-w",
      "-s",
      "-o",
      options.join(" "),
      "start",
    );
  const stop = (mode: string) => run("pg_ctl", "-D", data, "-m", mode, "-w", "-s", "stop");
  const pid = () => Number(readFileSync(join(data, "postmaster.pid"), "utf8").split("\n")[0]);
  start();
  stopWithThisProcess(data, folder);
  const address = (database: string) =>
    parseAddress(`postgres://${USER}@127.0.0.1:${port}/${database}`);
  const query: Cluster["query"] = async (database, text) => {
    const { hostname } = { hostname: "127.0.0.1" };
    const sql = new SQL({ adapter: "postgres", hostname, port, username: USER, database, max: 1 });
    try {
      return (await sql.unsafe(text)) as Record<string, unknown>[];
    } finally {
      await sql.close();
    }
  };
  await query("postgres", `CREATE DATABASE ${TEMPLATE}`);
  await migrate(address(TEMPLATE), Date.now());
  await query("postgres", `CREATE ROLE ${SERVICE_ROLE} LOGIN`);
  await query(TEMPLATE, readFileSync(GRANTS, "utf8"));
  let made = { file: "", names: [] as string[] };
  return {
    port,
    folder,
    pid,
    address,
    query,
    async createDatabase(file = Bun.main) {
      if (file !== made.file) {
        for (const name of made.names)
          await query("postgres", `DROP DATABASE ${name} WITH (FORCE)`);
        made = { file, names: [] };
      }
      const name = `test_${process.pid}_${databases++}`;
      made.names.push(name);
      // Copying the files takes half as long as writing them to the log.
      await query("postgres", `CREATE DATABASE ${name} TEMPLATE ${TEMPLATE} STRATEGY FILE_COPY`);
      return name;
    },
    stop: (mode = "fast") => stop(mode),
    start,
  };
}

/** Whether databases that need no disk have room in memory, where making one costs a tenth. */
function isMemoryLarge(): boolean {
  if (!existsSync(MEMORY)) return false;
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize >= MEMORY_BYTES;
}

/** The server refuses root: what comes before a command so that it runs as the user whom Debian's package makes. */
export function asPostgres(): string[] {
  if (process.getuid?.() !== 0) return [];
  return ["setpriv", `--reuid=${USER}`, `--regid=${USER}`, "--clear-groups"];
}

export function giveToPostgres(path: string): void {
  if (process.getuid?.() === 0) chownSync(path, ...idsOf(USER));
}

/** Runs one of PostgreSQL's programs to its end. */
export function runPostgres(folder: string, program: string, ...options: string[]): void {
  const command = [...asPostgres(), join(binaries(), program), ...options];
  const { exitCode, stderr } = Bun.spawnSync(command, {
    cwd: folder,
    stdout: "ignore",
    stderr: "pipe",
  });
  if (exitCode !== 0) throw new Error(`${program} failed: ${stderr.toString()}`);
}

/** Kept, for a pipe that is collected as garbage is closed. */
const guards: Bun.Subprocess<"pipe", "ignore", "ignore">[] = [];

/** However this process ends: its end of the pipe closes, and the guard stops the server and removes its folder. */
export function stopWithThisProcess(data: string, folder: string): void {
  const script = `read -r _
    pid=$(head -n 1 "$0/postmaster.pid" 2>/dev/null) && kill -QUIT "$pid"
    while [ -e "$0/postmaster.pid" ] && kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
    rm -rf "$1"`;
  const guard = Bun.spawn(["setsid", "sh", "-c", script, data, folder], {
    stdin: "pipe",
    stdout: "ignore",
    stderr: "ignore",
  });
  guard.unref();
  guards.push(guard);
}

/** Returns the folder with the programs of the newest installed version. */
export function binaries(): string {
  const versions = existsSync(VERSIONS) ? readdirSync(VERSIONS).map(Number) : [];
  if (versions.length === 0) throw new Error("PostgreSQL is missing: apt-get install postgresql");
  return join(VERSIONS, String(Math.max(...versions)), "bin");
}

function idsOf(user: string): [number, number] {
  const line = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .find((each) => each.startsWith(`${user}:`));
  const [, , uid, gid] = line!.split(":");
  return [Number(uid), Number(gid)];
}
