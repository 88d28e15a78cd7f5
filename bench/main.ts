// `bun run bench`: measures the compiled binary beside its peers and its limits, in alternating rounds on this
// machine, and writes a table and a JSON file. README.md beside this file says what is measured and why.

import { BAR, judge, NOT_MEASURED } from "./bar.ts";
import { removeAtEnd, stopEverything } from "./tools/children.ts";
import { describeMachine } from "./tools/machine.ts";
import { readOptions } from "./options.ts";
import { disk } from "./parts/disk.ts";
import { idle } from "./parts/idle.ts";
import { memory } from "./parts/memory.ts";
import { orders } from "./parts/orders.ts";
import { panels } from "./parts/panels.ts";
import { panel } from "./parts/panel.ts";
import { portal } from "./parts/portal.ts";
import { postgres } from "./parts/postgres.ts";
import { reads } from "./parts/reads.ts";
import { sizes } from "./parts/sizes.ts";
import { starts } from "./parts/starts.ts";
import { Results } from "./tools/results.ts";
import { print, tableOf } from "./tools/table.ts";
import { say } from "./tools/say.ts";

const PARTS = { orders, disk, reads, sizes, starts, memory, idle, postgres, panels, panel, portal };

const options = readOptions(process.argv.slice(2), Object.keys(PARTS));
if (!options.keep) removeAtEnd(options.cache);
const results = new Results();
const machine = await describeMachine();
print(tableOf(Object.entries(machine)));
try {
  for (const [name, part] of Object.entries(PARTS)) {
    if (!options.only.includes(name)) continue;
    say(`\n== ${name}`);
    await part(options, results);
    print(results.table(name));
  }
} finally {
  await stopEverything();
}
const judged = judge(BAR, results).filter(([, , , verdict]) => verdict !== NOT_MEASURED);
print(tableOf([["against the bar", "measured", "at least / at most", ""], ...judged]));
const bar = judged.map(([what, measured, wanted, verdict]) => ({
  what,
  measured,
  wanted,
  verdict,
}));
await Bun.write(
  options.json,
  `${JSON.stringify({ machine, options, bar, results: results.rows() }, null, 2)}\n`,
);
say(`written: ${options.json}`);
