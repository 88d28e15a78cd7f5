// Ours on PostgreSQL: one server or several on one database, at any distance from it.

import { join } from "node:path";
import { freshFolder, removeFolder, runToEnd, startChild } from "../tools/children.ts";
import { startPostgres } from "./postgres.ts";
import { BINARY, market, serve } from "./reseller.ts";
import type { Running, Subject } from "./subject.ts";

const DELAY_PROXY = join(import.meta.dir, "../tools/delay-proxy.ts");

export interface Cluster extends Running {
  /** The address of each server. */
  urls: string[];
}

export interface ClusterSubject extends Subject {
  start(env?: Record<string, string>): Promise<Cluster>;
}

export const resellerOnPostgres = onPostgres("reseller + PostgreSQL", 1, 0);
export const twoServers = onPostgres("2 × reseller + PostgreSQL", 2, 0);

/** With a delay of that many milliseconds in each round trip to the database. */
export function delayed(milliseconds: number): ClusterSubject {
  return onPostgres(`reseller, ${milliseconds} ms to PostgreSQL`, 1, milliseconds);
}

/** Another binary than dist/reseller where one is named. */
export function onPostgres(
  name: string,
  servers: number,
  milliseconds: number,
  binary?: string,
): ClusterSubject {
  return {
    name,
    async start(env) {
      const cluster = await startPostgres(env);
      // As the peer: by the Unix socket.
      const socket = `${encodeURIComponent(cluster.folder)}:${cluster.port}`;
      const addressOf = (host: string) => `postgres://${cluster.user}@${host}/postgres`;
      const direct = addressOf(socket);
      const { folder: template, keys } = await market();
      await runToEnd([BINARY, "move", "--from", template, "--to", direct]);
      const proxy =
        milliseconds === 0
          ? null
          : await startChild(
              [process.execPath, DELAY_PROXY, String(cluster.port), String(milliseconds)],
              { ready: /listening on (\d+)/ },
            );
      const database = proxy ? addressOf(`127.0.0.1:${proxy.ready}`) : direct;
      const running: Running[] = [];
      for (let place = 0; place < servers; place += 1) {
        const folder = freshFolder();
        const options = { RESELLER_DATABASE: database, RESELLER_SERVER: `bench${place}` };
        const after = () => removeFolder(folder);
        running.push(await serve(folder, keys, { ...env, ...options }, after, binary));
      }
      return {
        url: running[0]!.url,
        urls: running.map(({ url }) => url),
        keys,
        pids: [...running.flatMap(({ pids }) => pids), cluster.pid],
        async stop() {
          for (const each of running) await each.stop();
          await proxy?.stop();
          await cluster.stop();
        },
      };
    },
  };
}
