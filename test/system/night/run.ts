// `bun test/system/night/run.ts [UNKNOWN]`: lets a bad night pass on dist/reseller, and leaves its morning to a person, with
// the panel, until it is stopped.

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BINARY, binary } from "../../support/binary.ts";
import { passBadNight } from "./night.ts";

const [count = "200"] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "reseller-night-"));
const flags = ["--panel-listen", "127.0.0.1:0"];
const night = await passBadNight(folder, { unknown: Number(count), waiting: 20, flags });
const invited = await binary(folder, "panel", "invite", "owner", "--role", "owner");
process.stdout.write(
  `\nThe morning after. The API is ${night.server.url}; its data is in ${folder}/data.\n` +
    `Commands: cd ${folder} && ${BINARY} admin --help\n${night.server.stdout()}${invited.stdout}${invited.stderr}\n`,
);
await new Promise((resolve) => process.once("SIGINT", resolve).once("SIGTERM", resolve));
await night.end();
process.exit(0);
