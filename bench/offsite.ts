// What a backup and its off-site copy cost orders at full load: `bun run build && bun bench/offsite.ts [ROUNDS] [SECONDS]`.
// On one server with 200,000 orders, loads beside which backups are made and uploaded without a pause alternate with
// loads that have the machine to themselves.

import { join } from "node:path";
import { fillInBulk } from "../test/support/bulk.ts";
import { ACCESS_KEY, BUCKET } from "../test/support/s3.ts";
import { freshDatabase } from "../test/support/service.ts";
import { BINARY } from "./subjects/reseller.ts";
import { RESELLERS } from "./subjects/subject.ts";
import { freshFolder, freshFolderInMemory, startChild, stopEverything } from "./tools/children.ts";
import { load, type Shot } from "./tools/load.ts";
import { Results } from "./tools/results.ts";
import { say } from "./tools/say.ts";

const ORDERS = 200_000;
const LINK_BYTES = 100;
const CONNECTIONS = 128;
/** Compilation of the hot code takes most of a processor for the first seconds. */
const WARM_UP_SECONDS = 6;
const POLL_MS = 200;
const STORE = new URL("../test/support/s3-server.ts", import.meta.url).pathname;
const CASES = ["alone", "beside backups"] as const;

const [rounds = "6", seconds = "15"] = process.argv.slice(2);
const results = new Results();
try {
  const { data, shots } = market();
  // The store is another machine's: it takes neither this one's disk nor, at the lowest priority, its processors.
  const store = await startChild(
    ["nice", "-n", "40", process.execPath, STORE, freshFolderInMemory()],
    { ready: /^(\d+) / },
  );
  const log = join(freshFolderInMemory(), "log");
  const server = await startChild(
    [BINARY, "serve", "--port", "0", "--data", data, "--rate-limit", "1000000/s"],
    { env: environmentOf(store.ready), ready: /listening on (http:\S+)/, log },
  );
  const events = follow(log);
  const measure = async (duration: number) =>
    (await load(server.ready, { shots, connections: CONNECTIONS, seconds: duration })).perSecond;

  /** Backups one after the other until `isOver`; returns how many were copied. */
  const backUpUntil = async (isOver: () => boolean): Promise<number> => {
    let made = 0;
    for (; !isOver(); made += 1) {
      process.kill(server.pid, "SIGUSR1");
      await events.next("backup copied off-site", "backup not");
    }
    return made;
  };

  await measure(WARM_UP_SECONDS);
  for (let round = 0; round < Number(rounds); round += 1) {
    for (const name of round % 2 ? CASES.toReversed() : CASES) {
      let isOver = name === "alone";
      const backups = backUpUntil(() => isOver);
      const perSecond = await measure(Number(seconds));
      isOver = true;
      const made = await backups;
      results.add("offsite", `${ORDERS}`, name, "per second", perSecond);
      say(`${name}: ${perSecond.toFixed(0)} orders a second, ${made} backups copied`);
    }
  }
  const [alone, beside] = CASES.map((name) =>
    results.median("offsite", `${ORDERS}`, name, "per second"),
  ) as [number, number];
  const cost = 100 * (1 - beside / alone);
  process.stdout.write(
    `medians: ${alone.toFixed(0)} orders a second alone, ${beside.toFixed(0)} beside backups: ${cost.toFixed(1)} % less\n`,
  );
} finally {
  await stopEverything();
}

/** A database of orders, and the orders of its resellers that are placed in turn. */
function market(): { data: string; shots: Shot[] } {
  const database = freshDatabase(freshFolder());
  fillInBulk(database, ORDERS, LINK_BYTES);
  const order = { service: database.service(), link: "https://example.com/me", quantity: 100 };
  const body = JSON.stringify(order);
  const shots = Array.from({ length: RESELLERS }, (_, index): Shot => {
    database.user(`reseller${index}`, "1000000");
    const key = database.key(`reseller${index}`, "full").text;
    return { method: "POST", path: "/orders", key, body };
  });
  database.connection.sqlite.run("PRAGMA wal_checkpoint(TRUNCATE)");
  database.connection.sqlite.close();
  return { data: database.folder, shots };
}

/** Reads only what was added to the log. */
function follow(log: string): { next(wanted: string, failure: string): Promise<void> } {
  let read = 0;
  return {
    async next(wanted, failure) {
      for (;;) {
        const text = await Bun.file(log).slice(read).text();
        const end = text.lastIndexOf("\n") + 1;
        read += Buffer.byteLength(text.slice(0, end));
        const lines = text.slice(0, end).split("\n");
        const failed = lines.find((line) => line.includes(failure));
        if (failed) throw new Error(failed);
        if (lines.some((line) => line.includes(wanted))) return;
        await Bun.sleep(POLL_MS);
      }
    },
  };
}

function environmentOf(port: string): Record<string, string> {
  return {
    RESELLER_BACKUP_EVERY: "0",
    RESELLER_BACKUP_TO: `s3://${BUCKET}/bench`,
    RESELLER_S3_ENDPOINT: `http://127.0.0.1:${port}`,
    RESELLER_S3_ACCESS_KEY: ACCESS_KEY,
    RESELLER_S3_SECRET_KEY: ACCESS_KEY,
  };
}
