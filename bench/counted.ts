// `bun bench/counted.ts OTHER_TREE [BATCHES]`: the instructions that an order costs the writer, of this source tree beside another one, counted
// by Valgrind in batches of 64 on a database in memory. For machines without hardware counters, and for busy ones. Without
// JIT, so that the same program counts the same: JavaScript weighs more in it than it does in a server, SQLite as much.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { print, tableOf } from "./tools/table.ts";

const BATCH = 64;
/** What precedes the first order, and the first orders, are counted by a run of so many batches and taken off. */
const WARM_BATCHES = 4;

const [other, batches = "20"] = process.argv.slice(2);
if (!other) throw new Error("which other tree? bun bench/counted.ts OTHER_TREE [BATCHES]");
const folder = mkdtempSync(join(tmpdir(), "reseller-bench-counted-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
const trees = { other: resolve(other), this: resolve(import.meta.dir, "..") };
const rows: string[][] = [];
for (const [name, tree] of Object.entries(trees)) {
  const file = await bundle(name, tree);
  const start = await count(file, WARM_BATCHES);
  const all = await count(file, WARM_BATCHES + Number(batches));
  rows.push([name, ((all - start) / (Number(batches) * BATCH)).toFixed(0)]);
}
print(tableOf([["tree", "instructions an order"], ...rows]));

/** One file: reading the sources would be most of what is counted. */
async function bundle(name: string, tree: string): Promise<string> {
  const entry = join(folder, `${name}.ts`);
  await Bun.write(entry, program(tree));
  const { success, logs } = await Bun.build({
    entrypoints: [entry],
    outdir: folder,
    target: "bun",
    loader: { ".sql": "text" },
  });
  if (!success) throw new Error(logs.map(String).join("\n"));
  return join(folder, `${name}.js`);
}

function program(tree: string): string {
  const from = (path: string) => JSON.stringify(join(tree, "src", path));
  return `
    import { Database } from "bun:sqlite";
    import { createSqliteStore } from ${from("db/sqlite/store.ts")};
    import { migrate, MIGRATIONS } from ${from("storage/file/migrate.ts")};
    import { runBatch } from ${from("operations/batch/commands.ts")};
    const sqlite = new Database(":memory:");
    migrate(sqlite, MIGRATIONS, 0);
    // As the writer's thread has it.
    const store = createSqliteStore(sqlite, true);
    let ids = 0;
    const id = () => "b" + String((ids += 1)).padStart(23, "0");
    const run = (name, input) => runBatch(store, [{ name, input, ids: [id()] }], 1000)[0].done;
    const actor = { keyId: null, operator: "bench" };
    const { account } = run("createUser", { username: "r", name: "r", parent: null, actor });
    run("creditUser", { username: "r", amountMicros: 2 ** 52, note: null, actor });
    const key = { type: "order", reach: "all", label: "", hash: "0".repeat(64), start: "rk_" };
    const { id: keyId } = run("createKey", { username: "r", ...key, actor });
    const terms = { priceMicros: 1000000, per: "1000", min: 1, max: 10000, private: false };
    run("createService", { id: "s", name: "S", ...terms, actor });
    const link = "https://example.com/me";
    const input = { resellerAccount: account, keyId, service: "s", link, quantity: 10 };
    for (let index = 0; index < Number(process.argv[2]); index += 1) {
      const batch = Array.from({ length: ${BATCH} }, () => ({ name: "placeOrder", input, ids: [id()] }));
      if (!runBatch(store, batch, 1000 + index).every(({ done }) => done)) throw new Error("not placed");
    }
    process.exit(0);`;
}

/** Counts the instructions of all threads. */
async function count(file: string, times: number): Promise<number> {
  const valgrind = ["valgrind", "--tool=exp-bbv", "--instr-count-only=yes", "--smc-check=none"];
  const nowhere = ["--bb-out-file=/dev/null", "--pc-out-file=/dev/null"];
  const child = Bun.spawn([...valgrind, ...nowhere, process.execPath, file, String(times)], {
    env: { ...process.env, GIGACAGE_ENABLED: "0", BUN_JSC_useJIT: "0" },
    stdout: "ignore",
    stderr: "pipe",
  });
  const text = await new Response(child.stderr).text();
  if ((await child.exited) !== 0) throw new Error(text);
  const counts = [...text.matchAll(/Total instructions: (\d+)/g)].map(([, found]) => Number(found));
  if (counts.length === 0) throw new Error(`valgrind counted nothing: ${text}`);
  return counts.reduce((sum, each) => sum + each, 0);
}
