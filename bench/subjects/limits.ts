// Upper limits of anything that is built on this runtime and this disk.

import { cpSync } from "node:fs";
import { join } from "node:path";
import { freshFolder, removeFolder, runToEnd, startChild } from "../tools/children.ts";
import { market } from "./reseller.ts";
import type { Subject } from "./subject.ts";

const LIMITS = join(import.meta.dir, "../limits");

/** Answers every request with the JSON of `GET /balance`, `GET /orders/:id` or `POST /orders`, and does nothing else. */
export const bareServe = bare("bare Bun.serve");

/** The same, with the headers that a request and its answer have. */
export const bareHeaders = bare("bare with headers", "--headers");

function bare(name: string, ...words: string[]): Subject {
  return {
    name,
    async start() {
      const command = [process.execPath, join(LIMITS, "bare-serve.ts"), ...words];
      const child = await startChild(command, { ready: /listening on (http:\S+)/ });
      const { keys } = await market();
      return { url: child.ready, keys, pids: [child.pid], stop: () => child.stop() };
    },
  };
}

export const BARE_SQLITE = "bare SQLite loop";

/** Orders a second of a loop without HTTP: the same SQL in batches of 128 on the same database. */
export async function bareSqlite(resellers: number, seconds: number): Promise<number> {
  const folder = freshFolder();
  const { folder: template, keys } = await market();
  cpSync(template, folder, { recursive: true });
  const script = join(LIMITS, "bare-sqlite.ts");
  const words = [folder, String(seconds), ...keys.slice(0, resellers)];
  const printed = await runToEnd([process.execPath, script, ...words]);
  removeFolder(folder);
  return Number(printed);
}
