// The peers: Express 5 + better-sqlite3 and Fastify 5 + PostgreSQL 15, on Node. Their code is in bench/peers.

import { chownSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freshFolder, removeFolder, runToEnd, startChild } from "../tools/children.ts";
import { say } from "../tools/say.ts";
import { BALANCE, PRICE, RESELLERS, SERVICE, SERVICES, type Subject } from "./subject.ts";

const PEERS = join(import.meta.dir, "../peers");
const POSTGRES = "/usr/lib/postgresql/15/bin";
const READY = /listening on (http:\S+)/;
/** PostgreSQL refuses to run as root; Debian's package brings this user. */
const POSTGRES_USER = "postgres";
const KEYS = Array.from({ length: RESELLERS }, (_, index) => `rk_peer_${index}`.padEnd(31, "x"));

export const expressSqlite: Subject = {
  name: "Express + better-sqlite3",
  async start(env) {
    await installPeers();
    const folder = freshFolder();
    const child = await startChild(["node", join(PEERS, "express-sqlite.mjs")], {
      env: { ...peerEnvironment(folder), ...env, DATABASE: join(folder, "peer.db") },
      ready: READY,
    });
    return {
      url: child.ready,
      keys: KEYS,
      pids: [child.pid],
      async stop() {
        await child.stop();
        removeFolder(folder);
      },
    };
  },
};

export const fastifyPostgres: Subject = {
  name: "Fastify + PostgreSQL",
  async start(env) {
    await installPeers();
    const folder = freshFolder();
    const cluster = await startPostgres();
    const child = await startChild(["node", join(PEERS, "fastify-postgres.mjs")], {
      env: { ...peerEnvironment(folder), ...env, PGHOST: cluster.folder, PGUSER: cluster.user },
      ready: READY,
    });
    return {
      url: child.ready,
      keys: KEYS,
      pids: [child.pid, cluster.pid],
      async stop() {
        await child.stop();
        await cluster.stop();
        removeFolder(folder);
      },
    };
  },
};

/** What a peer fills its empty database from. */
function peerEnvironment(folder: string): Record<string, string> {
  const file = join(folder, "market.json");
  writeFileSync(
    file,
    JSON.stringify({
      keys: KEYS,
      balance: BALANCE,
      price: PRICE,
      service: SERVICE,
      services: SERVICES,
    }),
  );
  return { MARKET: file, NODE_ENV: "production" };
}

let installed: Promise<unknown> | undefined;

function installPeers(): Promise<unknown> {
  if (existsSync(join(PEERS, "node_modules/.package-lock.json"))) return Promise.resolve();
  if (!Bun.which("npm")) throw new Error("the peers need Node 20 or later and npm");
  say("installing the peers' packages in bench/peers");
  return (installed ??= runToEnd(["npm", "install", "--prefix", PEERS, "--no-audit", "--no-fund"]));
}

/** A cluster of its own with PostgreSQL's default settings, on a Unix socket in its folder. */
async function startPostgres() {
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
  const listen = ["-c", "listen_addresses=", "-c", `unix_socket_directories=${folder}`];
  const child = await startChild(
    ["sh", "-c", `exec "$@" 2>&1`, "sh", ...as, join(POSTGRES, "postgres"), "-D", data, ...listen],
    { ready: /database system is ready to accept connections/ },
  );
  return {
    folder,
    user,
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
