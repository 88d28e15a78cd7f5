// A PostgreSQL for one subject: Debian's, with its default settings but where it listens.

import { chownSync, existsSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { freshFolder, removeFolder, runToEnd, startChild } from "../tools/children.ts";

const POSTGRES = "/usr/lib/postgresql/15/bin";
/** PostgreSQL refuses to run as root; Debian's package brings this user. */
const POSTGRES_USER = "postgres";

export interface PostgresCluster {
  /** Holds its Unix socket. */
  folder: string;
  user: string;
  port: number;
  pid: number;
  stop(): Promise<void>;
}

/** A cluster of its own with PostgreSQL's default settings, on a Unix socket in its folder and a port of 127.0.0.1. `env` is for its processes. */
export async function startPostgres(env: Record<string, string> = {}): Promise<PostgresCluster> {
  if (!existsSync(join(POSTGRES, "postgres"))) {
    throw new Error(
      "PostgreSQL 15 is missing: apt-get install postgresql-15, then pg_ctlcluster 15 main stop",
    );
  }
  const folder = freshFolder();
  const isRoot = process.getuid?.() === 0;
  const user = isRoot ? POSTGRES_USER : (process.env["USER"] ?? POSTGRES_USER);
  const ids = isRoot ? await idsOf(user) : null;
  if (ids) chownSync(folder, ids.user, ids.group);
  const as = ids
    ? ["setpriv", `--reuid=${ids.user}`, `--regid=${ids.group}`, "--clear-groups"]
    : [];
  const data = join(folder, "data");
  await runToEnd([
    ...as,
    join(POSTGRES, "initdb"),
    "--auth=trust",
    `--username=${user}`,
    "--encoding=UTF8",
    "--locale=C",
    data,
  ]);
  const port = await freePort();
  const settings = { listen_addresses: "127.0.0.1", port, unix_socket_directories: folder };
  const listen = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const child = await startChild(
    ["sh", "-c", `exec "$@" 2>&1`, "sh", ...as, join(POSTGRES, "postgres"), "-D", data, ...listen],
    { env, ready: /database system is ready to accept connections/ },
  );
  return {
    folder,
    user,
    port,
    pid: child.pid,
    async stop() {
      await child.stop();
      removeFolder(folder);
    },
  };
}

async function idsOf(user: string): Promise<{ user: number; group: number }> {
  const [id, group] = await Promise.all([
    runToEnd(["id", "-u", user]),
    runToEnd(["id", "-g", user]),
  ]);
  return { user: Number(id), group: Number(group) };
}

export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
