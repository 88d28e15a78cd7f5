// The peers: Express 5 + better-sqlite3 and Fastify 5 + PostgreSQL 15, on Node. Their code is in bench/peers.

import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freshFolder, removeFolder, runToEnd, startChild } from "../tools/children.ts";
import { say } from "../tools/say.ts";
import { startPostgres } from "./postgres.ts";
import { BALANCE, PRICE, RESELLERS, SERVICE, SERVICES, type Subject } from "./subject.ts";

const PEERS = join(import.meta.dir, "../peers");
const READY = /listening on (http:\S+)/;
export const KEYS = Array.from({ length: RESELLERS }, (_, index) =>
  `rk_peer_${index}`.padEnd(31, "x"),
);

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
    const cluster = await startPostgres(env);
    const child = await startChild(["node", join(PEERS, "fastify-postgres.mjs")], {
      env: {
        ...peerEnvironment(folder),
        ...env,
        PGHOST: cluster.folder,
        PGPORT: String(cluster.port),
        PGUSER: cluster.user,
      },
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
export function peerEnvironment(folder: string): Record<string, string> {
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
