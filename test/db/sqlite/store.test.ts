// SQLite's end of the row port, where it is not as on other engines.

import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { transact, TransientError, type Tx } from "../../../src/db/port/port.ts";
import { createSqliteStore } from "../../../src/db/sqlite/store.ts";
import { users } from "../../../src/db/tables/users.ts";
import { claimDataDirectory } from "../../../src/storage/file/open.ts";
import { freshFolder } from "../../support/folders.ts";
import { freshStore, insertUser } from "../../support/databases/stores.ts";

test("when the commands of a batch are run singly, what was committed is not reported as refused", async () => {
  const store = await freshStore("sqlite");
  const rich = await store.run((tx) => insertUser(tx, "rich", 5));
  const runs = { full: 0 };
  const outcomes = await store.batch(
    (tx: Tx) => insertUser(tx, "first"),
    () => {
      runs.full += 1;
      if (runs.full === 2) throw Object.assign(new Error("full"), { code: "SQLITE_FULL" });
    },
    // Breaks a rule of the table when the balance is written, behind all commands.
    (tx: Tx) => void tx.update(users, { account: rich }, { balanceMicros: -1n }),
    (tx: Tx) => insertUser(tx, "last"),
  );
  expect(outcomes).toMatchObject([
    { done: rich + 1 },
    { threw: expect.any(TransientError) as unknown },
    { threw: { code: "SQLITE_CONSTRAINT_CHECK" } },
    { done: rich + 2 },
  ]);
  const names = await store.query("SELECT username FROM users ORDER BY account");
  expect(names.map(({ username }) => username)).toEqual(["rich", "first", "last"]);
});

describe("rows that are kept from batch to batch", () => {
  /** The writer's store and another connection, as the command line's beside a running server. */
  function openTwo() {
    const { path, release } = claimDataDirectory(freshFolder(), 0);
    release();
    const open = () => new Database(path, { readwrite: true, create: false });
    const [kept, other] = [createSqliteStore(open(), true), createSqliteStore(open())];
    const account = transact(kept, (tx) => insertUser(tx, "anna", 10)) as number;
    const nameIn = (store: typeof kept) =>
      transact(store, (tx) => tx.row(users.byKey, account)!.name) as string;
    const rename = (store: typeof kept, name: string) =>
      transact(store, (tx) => tx.update(users, { account }, { name }) && null);
    return { kept, other, account, nameIn, rename };
  }

  test("are read once while no other connection writes", () => {
    const { kept, nameIn, rename } = openTwo();
    expect(nameIn(kept)).toBe("anna");
    void rename(kept, "Anna");
    // Past the store, which would see it if it read the row again.
    kept.sqlite.run("UPDATE users SET name = 'unseen'");
    expect(nameIn(kept)).toBe("Anna");
  });

  test("are read again once another connection has written, whatever it wrote", () => {
    const { kept, other, nameIn, rename } = openTwo();
    for (const name of ["a", "b", "c"]) {
      expect(nameIn(kept)).not.toBe(name);
      void rename(other, name);
      expect(nameIn(kept)).toBe(name);
      void transact(other, (tx) => insertUser(tx, `another-${name}`));
      expect(nameIn(kept)).toBe(name);
    }
  });

  test("are read again after a batch that was rolled back, or a command that was undone", () => {
    const { kept, account, nameIn, rename } = openTwo();
    void rename(kept, "before");
    const fail = (tx: Tx) => {
      tx.update(users, { account }, { name: "undone" });
      throw new Error("on purpose");
    };
    expect(() => transact(kept, fail)).toThrow("on purpose");
    expect(nameIn(kept)).toBe("before");
    const outcomes = kept.runBatch([
      { run: (tx) => insertUser(tx, "bert") },
      { run: fail },
      { run: (tx) => tx.row(users.byKey, account)!.name },
    ]);
    expect(outcomes.at(-1)).toEqual({ done: "before" });
    expect(nameIn(kept)).toBe("before");
    const full = (tx: Tx) => {
      tx.update(users, { account }, { name: "lost" });
      throw Object.assign(new Error("full"), { code: "SQLITE_FULL" });
    };
    expect(() => transact(kept, full)).toThrow(TransientError);
    expect(nameIn(kept)).toBe("before");
  });
});
