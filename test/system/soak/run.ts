// `bun run soak [minutes]`: the compiled binary at full load with the command line beside it. Memory and open files
// must end where they were after the first minute. Needs wrk. Traffic to 127.0.0.1 only.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { median } from "../../../bench/tools/results.ts";
import { binary, binaryJson, stall, stop } from "../../support/binary.ts";
import { freshFolder } from "../../support/folders.ts";

const CONNECTIONS = 64;
const IDLE_CONNECTIONS = 100;
const SAMPLE_MILLISECONDS = 5_000;
/** The first minute fills caches. */
const WARM_SAMPLES = 12;
/**
 * What is flat: the median of the last quarter against that of the first after warming up. A mean would count the moments
 * in which the idle connections, closed all together by their time-out, are opened anew.
 */
const MEMORY_GROWTH_LIMIT_MB = 24;
const FILES_GROWTH_LIMIT = 5;
/** In turn, all the time, each in a process of its own. */
const COMMANDS = [
  "admin order list --limit 20",
  "admin user credit alice 1",
  "admin audit list --limit 20",
  "admin key list",
  "admin service update s --price 1",
  "health",
  "config show",
];

const minutes = Number(Bun.argv[2] ?? 10);
const folder = freshFolder();
const metrics = ["--metrics-listen", "127.0.0.1:0"];
const { server, key } = await stall(
  folder,
  "--log-level",
  "warn",
  "--backup-every",
  "0",
  ...metrics,
);
await binaryJson(folder, "admin", "user", "credit", "alice", "900000000", "--yes");
const script = join(folder, "orders.lua");
writeFileSync(
  script,
  `wrk.method = "POST"
wrk.headers["content-type"] = "application/json"
wrk.headers["x-api-key"] = "${key}"
wrk.body = '{"service":"s","link":"https://example.com/me","quantity":10}'
`,
);
const load = Bun.spawn(
  [
    "wrk",
    "-t1",
    `-c${CONNECTIONS}`,
    `-d${minutes * 60}s`,
    "-s",
    script,
    `${server.url}/api/v1/orders`,
  ],
  { stdout: "pipe" },
);
let over = false;
const report = new Response(load.stdout).text().finally(() => (over = true));

interface Sample {
  megabytes: number;
  files: number;
}

const samples: Sample[] = [];
const failures = new Map<string, number>();
let commands = 0;
const besides = (async () => {
  while (!over) {
    const command = COMMANDS[commands++ % COMMANDS.length]!;
    const { code, stderr } = await binary(folder, ...command.split(" "));
    if (code !== 0) failures.set(stderr, (failures.get(stderr) ?? 0) + 1);
  }
})();
const idle = Array.from({ length: IDLE_CONNECTIONS }, async () => {
  const { hostname, port } = new URL(server.url);
  while (!over) {
    const closed = Promise.withResolvers<void>();
    await Bun.connect({
      hostname,
      port: Number(port),
      socket: { data() {}, close: () => closed.resolve(), error: () => closed.resolve() },
    });
    await closed.promise;
  }
});
while (!over) {
  await Promise.race([Bun.sleep(SAMPLE_MILLISECONDS), report]);
  if (!over) samples.push(sampleOf(server.pid));
}
await Promise.all([besides, ...idle]);
await stop(server);

const steady = samples.slice(WARM_SAMPLES);
const quarter = Math.ceil(steady.length / 4);
const medianOf = (part: Sample[], name: keyof Sample) => median(part.map((sample) => sample[name]));
const growth = (name: keyof Sample) =>
  medianOf(steady.slice(-quarter), name) - medianOf(steady.slice(0, quarter), name);
const result = {
  minutes,
  requestsPerSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(await report)?.[1]),
  refused: /Non-2xx.*: (\d+)/.exec(await report)?.[1] ?? "0",
  commands,
  failures: Object.fromEntries(failures),
  memory: {
    first: samples[0],
    warm: steady[0],
    last: samples.at(-1),
    growthMegabytes: growth("megabytes"),
  },
  filesGrowth: growth("files"),
};
process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
const flat =
  result.memory.growthMegabytes <= MEMORY_GROWTH_LIMIT_MB &&
  result.filesGrowth <= FILES_GROWTH_LIMIT;
process.exit(flat && failures.size === 0 && result.refused === "0" ? 0 : 1);

function sampleOf(pid: number): Sample {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return {
    megabytes: Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1024,
    files: readdirSync(`/proc/${pid}/fd`).length,
  };
}
