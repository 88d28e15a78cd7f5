// A process that is killed while it writes: every order with a response is there, and the ledger adds up.

import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { claimDataDirectory } from "../../src/storage/file/open.ts";
import { findUser } from "../../src/db/users/users.ts";
import { audit } from "../support/databases/audit.ts";
import { freshDatabase } from "../support/databases/test-database.ts";

const LOAD = new URL("./load.ts", import.meta.url).pathname;

/** Runs the load until it has printed that many responses, kills it, and returns the order numbers it printed. */
async function killAfter(answers: number, argv: string[]): Promise<number[]> {
  const load = Bun.spawn(["bun", LOAD, ...argv], { stdout: "pipe", stderr: "pipe" });
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of load.stdout) {
    text += decoder.decode(chunk);
    if (text.split("\n").length > answers) load.kill("SIGKILL");
  }
  await load.exited;
  if (load.signalCode !== "SIGKILL") throw new Error(await new Response(load.stderr).text());
  return text.split("\n").slice(0, -1).map(Number);
}

describe("a server killed under load", () => {
  test("keeps every order that had a response, and balances, orders and ledger agree, after each of many kills", async () => {
    const database = freshDatabase();
    database.user("anna", "1000000");
    const { account } = findUser(database.connection.store.reader, "anna")!;
    const service = database.service();
    const argv = [
      database.connection.path,
      `${account}`,
      database.key("anna", "order").id,
      service,
    ];
    database.connection.sqlite.close();
    const answered: number[] = [];
    for (const answers of [1, 200, 777]) {
      const orders = await killAfter(answers, argv);
      expect(orders.length).toBeGreaterThanOrEqual(answers);
      answered.push(...orders);
      // As a restart does it: the lock is free and the write-ahead log is read back.
      claimDataDirectory(database.folder, Date.now()).release();
      const sqlite = new Database(database.connection.path, { readonly: true });
      const kept = new Set(sqlite.query("SELECT order_id FROM orders").values().flat());
      expect(answered.filter((order) => !kept.has(order))).toEqual([]);
      expect(audit({ query: (text) => sqlite.query(text).all() as never })).toEqual({});
      expect(sqlite.query("PRAGMA integrity_check").values()).toEqual([["ok"]]);
      sqlite.close();
    }
  });
});
