// What a backup and its off-site copy cost orders at full load: `bun run build && bun bench/offsite.ts [ROUNDS] [SECONDS]`.
// Each round has a fresh server. Short loads while a backup is made and sent, from its beginning to its end, are compared
// with loads right before and right after it.

import { cpSync } from "node:fs";
import { join } from "node:path";
import { fillInBulk } from "../test/support/bulk.ts";
import { ACCESS_KEY, BUCKET } from "../test/support/s3.ts";
import { freshDatabase } from "../test/support/service.ts";
import { BINARY } from "./subjects/reseller.ts";
import { RESELLERS } from "./subjects/subject.ts";
import { freshFolder, freshFolderInMemory, startChild, stopEverything } from "./tools/children.ts";
import { load, type Shot } from "./tools/load.ts";
import { say } from "./tools/say.ts";

const ORDERS = 100_000;
const LINK_BYTES = 100;
const CONNECTIONS = 128;
/** Compilation of the hot code takes most of a processor for the first seconds. */
const WARM_UP_SECONDS = 6;
/** Loads without a backup, before it and after it. */
const LOADS_ALONE = 2;
const POLL_MS = 50;
const STORE = new URL("../test/support/s3-server.ts", import.meta.url).pathname;
const MADE = "backup made";
const COPIED = "backup copied off-site";

const [rounds = "5", seconds = "3"] = process.argv.slice(2);
/** Of a load beside a backup to those alone in its round. */
const ratios: { stage: string; ratio: number }[] = [];
try {
  const market = fill();
  // The store is another machine's: it takes neither this one's disk nor, at the lowest priority, its processors.
  const store = await startChild(
    ["nice", "-n", "40", process.execPath, STORE, freshFolderInMemory()],
    { ready: /^(\d+) / },
  );
  for (let round = 0; round < Number(rounds); round += 1) await measureRound(market, store.ready);
  const labelled = [...ratios, ...ratios.map(({ ratio }) => ({ stage: "all", ratio }))];
  for (const [name, of] of Map.groupBy(labelled, ({ stage }) => stage)) {
    const sorted = of.map(({ ratio }) => ratio).toSorted((one, other) => one - other);
    const quantile = (share: number) => sorted[Math.floor(share * (sorted.length - 1))]!.toFixed(3);
    process.stdout.write(
      `Ratio while it is ${name}: mean ${mean(sorted).toFixed(3)}, median ${quantile(0.5)}, quartiles ${quantile(0.25)} and ${quantile(0.75)}, ${of.length} loads\n`,
    );
  }
} finally {
  await stopEverything();
}

async function measureRound({ data: filled, shots }: Market, port: string): Promise<void> {
  const data = freshFolder();
  cpSync(filled, data, { recursive: true });
  const log = join(freshFolderInMemory(), "log");
  const server = await startChild(
    [BINARY, "serve", "--port", "0", "--data", data, "--rate-limit", "1000000/s"],
    { env: environmentOf(port), ready: /listening on (http:\S+)/, log },
  );
  const measure = async (duration = Number(seconds)) =>
    (await load(server.ready, { shots, connections: CONNECTIONS, seconds: duration })).perSecond;
  const measureAlone = async () => {
    for (let count = 0; count < LOADS_ALONE; count += 1) alone.push(await measure());
  };
  const events = follow(log);
  const alone: number[] = [];
  await measure(WARM_UP_SECONDS);
  await measureAlone();

  const beside: { stage: string; perSecond: number }[] = [];
  let stage: "made" | "sent" | "over" = "made";
  const begun = performance.now();
  const elapsed: number[] = [];
  const backUp = async (): Promise<void> => {
    process.kill(server.pid, "SIGUSR1");
    for (const [line, next] of [
      [MADE, "sent"],
      [COPIED, "over"],
    ] as const) {
      await events.next(line);
      elapsed.push(Math.round((performance.now() - begun) / 1000));
      stage = next;
    }
  };
  const backingUp = backUp();
  for (;;) {
    const before: string = stage;
    const perSecond = await measure();
    // A load at whose end there is no backup any more is neither beside one nor alone.
    if ((stage as string) === "over") break;
    beside.push({ stage: before === stage ? stage : "made and sent", perSecond });
  }
  await backingUp;
  await measureAlone();
  await server.stop();
  const base = mean(alone);
  ratios.push(
    ...beside.map(({ stage: of, perSecond }) => ({ stage: of, ratio: perSecond / base })),
  );
  const shown = beside
    .map(({ stage: of, perSecond }) => `${of} ${perSecond.toFixed(0)}`)
    .join(", ");
  say(
    `alone ${alone.map((each) => each.toFixed(0)).join(", ")}; beside ${shown}; made after ${elapsed[0]} s, sent after ${elapsed[1]} s`,
  );
}

interface Market {
  data: string;
  shots: Shot[];
}

/** A database of orders, and the orders of its resellers that are placed in turn. */
function fill(): Market {
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

/** Reads only what was added to the log: it has a line for each order. */
function follow(log: string) {
  let read = 0;
  return {
    /** Resolves once a new line has these words; throws for a failed backup. */
    async next(words: string): Promise<void> {
      for (;;) {
        const text = await Bun.file(log).slice(read).text();
        const end = text.lastIndexOf("\n") + 1;
        read += Buffer.byteLength(text.slice(0, end));
        const lines = text.slice(0, end).split("\n");
        const failed = lines.find((line) => line.includes("backup not"));
        if (failed) throw new Error(failed);
        if (lines.some((line) => line.includes(words))) return;
        await Bun.sleep(POLL_MS);
      }
    },
  };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
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
