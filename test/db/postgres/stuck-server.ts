// `bun test/db/postgres/stuck-server.ts <port> <database> <account>`: a server that stops while its batch has the lock of an
// account, as one does that is frozen. Prints `locked` then.

import { writeSync } from "node:fs";
import { parseAddress } from "../../../src/db/postgres/connection/address.ts";
import { createPostgresStore } from "../../../src/db/postgres/batch/store.ts";
import { users } from "../../../src/db/tables/users.ts";

/** Longer than anybody waits for it. */
const STUCK_MS = 120_000;

const [port, database, account] = process.argv.slice(2);
const store = createPostgresStore(
  parseAddress(`postgres://postgres@127.0.0.1:${port}/${database}`),
);
await store.runBatch([
  {
    run(tx) {
      tx.lock(Number(account));
      // Loaded only once the lock was taken with it.
      tx.row(users.byKey, Number(account));
      writeSync(1, "locked");
      Bun.sleepSync(STUCK_MS);
    },
  },
]);
