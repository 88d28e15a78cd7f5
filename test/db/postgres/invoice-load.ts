// `bun test/db/postgres/invoice-load.ts <port> <database> <rounds> <member>`: one of several servers on a database, which
// credits users, by payments of a member too, and issues invoices. Prints a line for each round that was committed.

import { parseAddress } from "../../../src/db/postgres/connection/address.ts";
import { createPostgresStore } from "../../../src/db/postgres/batch/store.ts";
import { execute } from "../../../src/operations/batch/execute.ts";

const [port, database, rounds, member] = process.argv.slice(2);
/** Credits are of one month, and invoices are issued in the next one, which both modes take. */
const [CREDITED, ISSUED] = [Date.parse("2026-11-28T12:00:00Z"), Date.parse("2026-12-01T00:00:00Z")];
const store = createPostgresStore(
  parseAddress(`postgres://postgres@127.0.0.1:${port}/${database}`),
);
const actor = { keyId: null, operator: `server ${process.pid}` };

for (let round = 0; round < Number(rounds); round += 1) {
  const credits = ["alice", "bob", "alice"].map((username, index) => {
    const credit = { username, amountMicros: 1 + round + index, note: null, actor };
    return execute(store, "creditUser", credit, CREDITED);
  });
  const issued = execute(store, "issueInvoices", { limit: 2 }, ISSUED);
  await Promise.all([...credits, pay(round), issued]);
  process.stdout.write(`${round}\n`);
}
await store.close();

/** Asks for a payment and reports it, twice, as programs may. */
async function pay(round: number): Promise<void> {
  const asked = {
    methodId: "program",
    amountMicros: 200_000_000,
    requestKey: `${process.pid}-${round}`,
    actor: { keyId: null, operator: member! },
  };
  const { id } = await execute(store, "createPayment", asked, CREDITED);
  const paid = {
    methodId: "program",
    id,
    programId: id,
    amountMicros: 200_000_000,
    currency: "USD",
  };
  for (let times = 0; times < 2; times += 1) await execute(store, "recordPaid", paid, CREDITED);
}
