// Callers of two servers, run in the network of the machines. Prints the number of orders acknowledged so far, line by line, and
// once its input ends and every order that may be sent again is answered, what became of each.

import { Journal } from "../failover/journal.ts";
import { type Caller, startCallers } from "../failover/binary-servers.ts";

const REPORT_EVERY_MS = 200;
/** The machines share few processors and the callers one key with its rate limit: failures are tried, not speed. */
const PAUSE_MS = 400;

const [seedText, keys, ...urls] = process.argv.slice(2);
const seed = Number(seedText);
const caller: Caller = { keys: keys!.split(","), again: [], next: 0, pauseMs: PAUSE_MS };
const journal = new Journal();
const groups = urls.map((url) => startCallers(url, caller, journal, seed, false));
const report = setInterval(() => console.log(journal.acknowledged), REPORT_EVERY_MS);

await Bun.stdin.text();
for (const group of groups) group.end();
await Promise.all(groups.map(({ ended }) => ended));
await startCallers(urls[0]!, caller, journal, seed, true).ended;
clearInterval(report);
console.log(JSON.stringify({ entries: [...journal.entries], faults: journal.faults }));
