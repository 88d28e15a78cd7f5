// What a backup and its off-site copy cost orders at full load: `bun run build && bun bench/offsite.ts [PAIRS] [SECONDS]`.
// On one server with 200,000 orders, beside which backups are made and uploaded without a pause, short loads in which their
// processes run alternate with loads in which they are stopped (SIGSTOP), so that other load of the machine affects both.

import { readFileSync } from "node:fs";
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
const POLL_MS = 50;
const STORE = new URL("../test/support/s3-server.ts", import.meta.url).pathname;
const MADE = "backup made";
const COPIED = "backup copied off-site";
const REFUSED = "a backup is being made already";
const CASES = ["alone", "beside backups"] as const;

const [pairs = "20", seconds = "3"] = process.argv.slice(2);
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

  let phase: (typeof CASES)[number] | "over" = "beside backups";
  let stage = "made";
  let copies = 0;
  const backUp = async (): Promise<void> => {
    while (phase !== "over") {
      process.kill(server.pid, "SIGUSR1");
      if ((await events.next(MADE, REFUSED, "backup not")) === REFUSED) continue;
      stage = "copied";
      await events.next(COPIED, COPIED, "backup not");
      stage = "made";
      copies += 1;
    }
  };
  // Each process of a backup as soon as there is one.
  const steer = async (): Promise<void> => {
    while (phase !== "over") {
      for (const pid of childrenOf(server.pid))
        signal(pid, phase === "alone" ? "SIGSTOP" : "SIGCONT");
      await Bun.sleep(POLL_MS);
    }
    for (const pid of childrenOf(server.pid)) signal(pid, "SIGCONT");
  };

  await measure(WARM_UP_SECONDS);
  const running = [backUp(), steer()];
  const ratios: { stage: string; ratio: number }[] = [];
  for (let pair = 0; pair < Number(pairs); pair += 1) {
    const measured: Record<string, number> = {};
    const begun = stage;
    for (const name of pair % 2 ? CASES.toReversed() : CASES) {
      phase = name;
      await Bun.sleep(2 * POLL_MS);
      measured[name] = await measure(Number(seconds));
      results.add("offsite", `${ORDERS}`, name, "per second", measured[name]);
    }
    const ratio = measured["beside backups"]! / measured["alone"]!;
    ratios.push({ stage: begun === stage ? stage : "both", ratio });
    say(`${JSON.stringify({ ...measured, ...ratios.at(-1) })}, ${copies} backups copied`);
  }
  phase = "over";
  await Promise.all(running);
  const [alone, beside] = CASES.map((name) =>
    results.median("offsite", `${ORDERS}`, name, "per second"),
  ) as [number, number];
  process.stdout.write(
    `${copies} backups copied. Medians: ${alone.toFixed(0)} orders a second alone, ${beside.toFixed(0)} beside backups\n`,
  );
  const labelled = [...ratios, ...ratios.map(({ ratio }) => ({ stage: "all", ratio }))];
  for (const [name, of] of Map.groupBy(labelled, (each) => each.stage)) {
    const sorted = of.map(({ ratio }) => ratio).toSorted((one, other) => one - other);
    const quantile = (share: number) => sorted[Math.floor(share * (sorted.length - 1))]!.toFixed(3);
    process.stdout.write(
      `Ratio of a pair, ${name}: median ${quantile(0.5)}, quartiles ${quantile(0.25)} and ${quantile(0.75)}, ${of.length} pairs\n`,
    );
  }
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
function follow(log: string) {
  let read = 0;
  return {
    /** Which of the two a new line has; throws for one with `failure`. */
    async next(wanted: string, other: string, failure: string): Promise<string> {
      for (;;) {
        const text = await Bun.file(log).slice(read).text();
        const end = text.lastIndexOf("\n") + 1;
        read += Buffer.byteLength(text.slice(0, end));
        const lines = text.slice(0, end).split("\n");
        const failed = lines.find((line) => line.includes(failure));
        if (failed) throw new Error(failed);
        const found = [wanted, other].find((words) => lines.some((line) => line.includes(words)));
        if (found) return found;
        await Bun.sleep(POLL_MS);
      }
    },
  };
}

function childrenOf(pid: number): number[] {
  const file = `/proc/${pid}/task/${pid}/children`;
  return readFileSync(file, "utf8").trim().split(" ").filter(Boolean).map(Number);
}

/** It may have ended by now. */
function signal(pid: number, name: "SIGSTOP" | "SIGCONT"): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
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
