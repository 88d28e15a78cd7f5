// `bun run fuzz [requests] [seed]`: random malformed requests to the compiled binary. Exits 1 when an invariant
// fails, and prints the request. Traffic to 127.0.0.1 only.

import { Database } from "bun:sqlite";
import { join } from "node:path";
import { binary, binaryJson, stall, stop } from "../../support/binary.ts";
import { fuzz, type Fuzzed } from "../../support/random/fuzz.ts";
import { freshFolder } from "../../support/folders.ts";

const STRETCH = 5_000;

const requests = Number(Bun.argv[2] ?? 10_000);
const seed = Number(Bun.argv[3] ?? Date.now() % 2 ** 31);
const folder = freshFolder();
const { server, key } = await stall(folder, "--log-level", "error");
await binaryJson(folder, "admin", "user", "create", "child", "--parent", "alice");
const reader = new Database(join(folder, "data", "reseller.db"), { readonly: true });
const database = { query: (text: string) => reader.query(text).all() as never[] };
const target = { url: server.url, key, service: "s", username: "child", database };
const total: Fuzzed = { requests: 0, statuses: {}, changes: 0 };
for (let done = 0; done < requests; done += STRETCH) {
  const part = await fuzz(target, Math.min(STRETCH, requests - done), seed + done);
  total.requests += part.requests;
  total.changes += part.changes;
  for (const [status, count] of Object.entries(part.statuses)) {
    total.statuses[status] = (total.statuses[status] ?? 0) + count;
  }
  process.stderr.write(`\r${total.requests} of ${requests}`);
}
await stop(server);
const verified = await binary(folder, "verify");
if (server.stderr() !== "") process.stderr.write(`\n${server.stderr()}`);
const faults = server.stderr().split('"internal error"').length - 1;
process.stdout.write(`\n${JSON.stringify({ seed, ...total, faults, verify: verified.code })}\n`);
process.exit(faults === 0 && verified.code === 0 ? 0 : 1);
