// SQLite's end of the row port, where it is not as on other engines.

import { expect, test } from "bun:test";
import { TransientError, type Tx } from "../../../src/db/port.ts";
import { users } from "../../../src/db/tables.ts";
import { freshStore, insertUser } from "../../support/stores.ts";

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
