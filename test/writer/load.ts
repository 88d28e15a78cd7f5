// Run as a process of its own, to be killed: places orders and changes their states through the writer without end, and
// prints the number of each order that was acknowledged.
// Usage: bun load.ts DATABASE RESELLER_ACCOUNT KEY_ID SERVICE_ID

import { startWriter } from "../../src/writer/writer.ts";
import { bundledThread } from "../support/bundles.ts";

const LANES = 32;
const ACTOR = { keyId: null, operator: "tester" };

const [path, account, keyId, service] = process.argv.slice(2) as [string, string, string, string];
const writer = await startWriter({
  path,
  thread: await bundledThread(),
  onFatal: (cause) => {
    throw new Error(cause);
  },
});

async function lane(): Promise<never> {
  for (;;) {
    const order = { resellerAccount: Number(account), keyId, service, link: "x", quantity: 100 };
    const { orderId, id } = await writer.submit("placeOrder", order);
    process.stdout.write(`${orderId}\n`);
    const to = orderId % 2 === 0 ? "CANCELLED" : "PARTIAL";
    await writer.submit("transitionOrder", { id, to, remains: 33, note: null, actor: ACTOR });
  }
}

await Promise.all(Array.from({ length: LANES }, lane));
