// `bun test/db/postgres/invoice-load.ts <port> <database> <rounds>`: one of several servers on a database, which credits
// users and issues invoices. Prints a line for each round that was committed.

import { parseAddress } from "../../../src/db/postgres/connection/address.ts";
import { createPostgresStore } from "../../../src/db/postgres/batch/store.ts";
import { execute } from "../../../src/operations/batch/execute.ts";

const [port, database, rounds] = process.argv.slice(2);
const store = createPostgresStore(
  parseAddress(`postgres://postgres@127.0.0.1:${port}/${database}`),
);
const actor = { keyId: null, operator: `server ${process.pid}` };

for (let round = 0; round < Number(rounds); round += 1) {
  const credits = ["alice", "bob", "alice"].map((username, index) => {
    const credit = { username, amountMicros: 1 + round + index, note: null, actor };
    return execute(store, "creditUser", credit, Date.now());
  });
  const issued = execute(store, "issueInvoices", { limit: 2 }, Date.now());
  await Promise.all([...credits, issued]);
  process.stdout.write(`${round}\n`);
}
await store.close();
