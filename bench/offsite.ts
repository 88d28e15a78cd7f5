// What a backup and its off-site copy cost orders at full load: `bun run build && bun bench/offsite.ts [MINUTES] [SECONDS]`.
// Each round has a fresh server, which makes a backup and sends it. Until it is sent, short loads in which its processes
// run alternate with loads in which they are frozen, so that other load of the machine affects both. Frozen, because the
// server continues a process that is stopped by a signal: by a cgroup, which takes Linux and root.

import { cpSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fillInBulk } from "../test/support/databases/bulk.ts";
import { childrenOf } from "../test/support/children.ts";
import { ACCESS_KEY, BUCKET } from "../test/support/peers/s3.ts";
import { freshDatabase } from "../test/support/databases/test-database.ts";
import { BINARY } from "./subjects/reseller.ts";
import { RESELLERS } from "./subjects/subject.ts";
import { freshFolder, freshFolderInMemory, startChild, stopEverything } from "./tools/children.ts";
import { load, type Shot } from "./tools/load.ts";
import { say } from "./tools/say.ts";

const ORDERS = 50_000;
const LINK_BYTES = 100;
const CONNECTIONS = 128;
/** Compilation of the hot code takes most of a processor for the first seconds. */
const WARM_UP_SECONDS = 6;
const POLL_MS = 50;
const STORE = new URL("../test/support/peers/s3-server.ts", import.meta.url).pathname;
const MADE = "backup made";
const COPIED = "backup copied off-site";
const CASES = ["alone", "beside"] as const;
type Stage = "made" | "sent" | "over";

const [minutes = "7", seconds = "3"] = process.argv.slice(2);
const end = performance.now() + Number(minutes) * 60_000;
const pairs: { stage: string; alone: number; beside: number }[] = [];
const freezer = createFreezer();
try {
  const market = fill();
  // The store is another machine's: it takes neither this one's disk nor, at the lowest priority, its processors.
  const store = await startChild(
    ["nice", "-n", "40", process.execPath, STORE, freshFolderInMemory()],
    { ready: /^(\d+) / },
  );
  while (performance.now() < end) await measureRound(market, store.ready);
  const labelled = [...pairs, ...pairs.map((pair) => ({ ...pair, stage: "made or sent" }))];
  for (const [stage, of] of Map.groupBy(labelled, (pair) => pair.stage)) {
    const [alone, beside] = CASES.map((name) => of.reduce((sum, pair) => sum + pair[name], 0));
    const sorted = of.map((pair) => pair.beside / pair.alone).toSorted((one, other) => one - other);
    const quantile = (share: number) => sorted[Math.floor(share * (sorted.length - 1))]!.toFixed(3);
    process.stdout.write(
      `While it is ${stage}: ${(beside! / alone!).toFixed(3)} of the orders; of a pair median ${quantile(0.5)}, quartiles ${quantile(0.25)} and ${quantile(0.75)}, ${of.length} pairs, ${(alone! / of.length).toFixed(0)} orders a second alone\n`,
    );
  }
} finally {
  freezer.freeze(false);
  await stopEverything();
  await Bun.sleep(POLL_MS);
  freezer.remove();
}
// What reads the output of the ended processes would keep this one.
process.exit();

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
  await measure(WARM_UP_SECONDS);

  let stage: Stage = "made";
  const events = follow(log, () => stage !== "over");
  const backUp = async (): Promise<void> => {
    process.kill(server.pid, "SIGUSR1");
    if (await events.next(MADE)) stage = "sent";
    if (await events.next(COPIED)) stage = "over";
  };
  const steer = async (): Promise<void> => {
    for (; stage !== "over"; await Bun.sleep(POLL_MS)) {
      for (const pid of childrenOf(server.pid)) freezer.add(pid);
    }
  };
  const running = Promise.all([backUp(), steer()]);
  const current = (): Stage => stage;
  for (let pair = 0; current() !== "over" && performance.now() < end; pair += 1) {
    const measured = { alone: 0, beside: 0 };
    const begun = current();
    for (const name of pair % 2 ? CASES.toReversed() : CASES) {
      freezer.freeze(name === "alone");
      await Bun.sleep(2 * POLL_MS);
      measured[name] = await measure();
    }
    // A load at whose end there was no backup any more was not beside one.
    if (current() === "over") break;
    pairs.push({ stage: begun === current() ? begun : "first made, then sent", ...measured });
    say(JSON.stringify(pairs.at(-1)));
  }
  freezer.freeze(false);
  stage = "over";
  await running;
  await server.stop();
}

/** Creates a control group that freezes the processes of backups. */
function createFreezer() {
  const root = /^\S+ (\S+) cgroup2 /m.exec(readFileSync("/proc/mounts", "utf8"))?.[1];
  if (root === undefined) throw new Error("there is no cgroup2 file system: mount one");
  const group = join(root, `reseller-bench-${process.pid}`);
  mkdirSync(group);
  const added = new Set<number>();
  return {
    add(pid: number): void {
      if (added.has(pid)) return;
      added.add(pid);
      try {
        writeFileSync(join(group, "cgroup.procs"), String(pid));
      } catch (error) {
        // It has ended.
        if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
      }
    },
    freeze: (is: boolean) => writeFileSync(join(group, "cgroup.freeze"), is ? "1" : "0"),
    remove: () => rmdirSync(group),
  };
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
    const key = database.key(`reseller${index}`, "order").text;
    return { method: "POST", path: "/orders", key, body };
  });
  database.connection.sqlite.run("PRAGMA wal_checkpoint(TRUNCATE)");
  database.connection.sqlite.close();
  return { data: database.folder, shots };
}

/** Reads only what was added to the log: it has a line for each order. */
function follow(log: string, isWanted: () => boolean) {
  let read = 0;
  return {
    /** Whether a new line came to have these words while that was wanted; throws for a failed backup. */
    async next(words: string): Promise<boolean> {
      while (isWanted()) {
        const text = await Bun.file(log).slice(read).text();
        const end = text.lastIndexOf("\n") + 1;
        read += Buffer.byteLength(text.slice(0, end));
        const lines = text.slice(0, end).split("\n");
        const failed = lines.find((line) => line.includes("backup not"));
        if (failed) throw new Error(failed);
        if (lines.some((line) => line.includes(words))) return true;
        await Bun.sleep(POLL_MS);
      }
      return false;
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
