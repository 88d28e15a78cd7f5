// `bun test/system/night/run.ts [UNKNOWN]`: lets a bad night pass on dist/reseller, and leaves its morning to a person, with
// the panel, until it is stopped. Then it says how the orders were settled, beside what their provider has.

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BINARY, binary } from "../../support/binary.ts";
import { passBadNight, wrongSettlements } from "./night.ts";

const [count = "200"] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "reseller-night-"));
const flags = ["--panel-listen", "127.0.0.1:0"];
const night = await passBadNight(folder, {
  unknown: Number(count),
  waiting: 20,
  flags,
  isPoorByDay: true,
});
process.on("SIGUSR1", () => night.topUp());
const invited = await binary(folder, "panel", "invite", "owner", "--role", "owner");
process.stdout.write(
  `\nThe morning after. The API is ${night.server.url}; its data is in ${folder}/data.\n` +
    `Commands: cd ${folder} && ${BINARY} admin --help\n` +
    `Pay into the account at the provider poor: kill -USR1 ${process.pid}; stop: kill -TERM ${process.pid}\n` +
    `${night.server.stdout()}${invited.stdout}${invited.stderr}\n`,
);
await new Promise((resolve) => process.once("SIGINT", resolve).once("SIGTERM", resolve));
const wrong = await wrongSettlements(night);
const { poor, dead } = night.upstreams;
process.stdout.write(
  `${night.unknown.size - wrong.length} of ${night.unknown.size} unknown orders are settled as the provider has them; not: ${wrong.join(", ") || "none"}.\n` +
    `Sent of those that waited: ${poor.book.size} of ${night.held.length} at poor, ${dead.book.size} of ${night.waiting.length} at dead.\n`,
);
await night.end();
process.exit(0);
