// Rows of a list that was read before the lock of their table was taken: another transaction may have deleted them.

import { expect, test } from "bun:test";
import { createPostgresStore } from "../../../../src/db/postgres/batch/store.ts";
import { parseAddress } from "../../../../src/db/postgres/connection/address.ts";
import { PORTAL_SIGN_INS } from "../../../../src/db/members/members.ts";
import { portalSignIns } from "../../../../src/db/tables/members.ts";
import { seedMember } from "../../../support/seeds/payments.ts";
import { freshDatabase } from "../../../support/databases/test-database.ts";
import { memberOf } from "../../../../src/domain/members/members.ts";

const KINDS = ["delete", "update"] as const;

test.each(KINDS)("a row that was deleted between a list and its %s is no error", async (kind) => {
  const database = freshDatabase();
  const person = memberOf(seedMember(database).operator)!;
  const session = { hash: "0".repeat(64), address: "192.0.2.1", userAgent: "" };
  const opened = { site: "portal", attempt: null, person, passwordHash: "p" } as const;
  database.run("openSession", { ...opened, session: { ...session, id: "s".repeat(22) } });
  const store = createPostgresStore(parseAddress(database.location.database!));
  let isDeleted = false;
  const [outcome] = await store.runBatch([
    {
      run(tx) {
        const found = PORTAL_SIGN_INS.listSessionsOf(tx, person);
        // Another server, between the two rounds of this batch.
        if (found.length > 0 && !isDeleted) database.query("DELETE FROM member_sessions");
        isDeleted ||= found.length > 0;
        for (const each of found) {
          if (kind === "delete") tx.delete(portalSignIns.sessions, each);
          else tx.update(portalSignIns.sessions, each, { failures: 1 });
        }
        return { ended: found.length };
      },
    },
  ]);
  expect([isDeleted, outcome]).toEqual([true, { done: { ended: 0 } }]);
  await store.close();
  database.close();
});
