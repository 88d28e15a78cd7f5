// How long a move-in from another panel takes with the binary, twice over: what is imported, then what is found to be
// there. Needs `bun run build`. bench/README.md#moving-in.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OLD_PANEL_MAP, writeOldPanelDump } from "../test/support/seeds/old-panel.ts";

const BINARY = new URL("../dist/reseller", import.meta.url).pathname;
const [users = 10_000, services = 3000, orders = 500_000] = process.argv.slice(2).map(Number);

const folder = mkdtempSync(join(tmpdir(), "moving-in-"));

async function run(title: string, argv: string[], stdin = ""): Promise<void> {
  const began = performance.now();
  const child = Bun.spawn([BINARY, ...argv], {
    cwd: folder,
    stdin: new Blob([stdin]),
    stdout: "ignore",
  });
  const code = await child.exited;
  const seconds = (performance.now() - began) / 1000;
  const { user, system } = child.resourceUsage()!.cpuTime;
  const processor = Number(user + system) / 1e6;
  console.log(
    `${title}: ${seconds.toFixed(1)} s, processor ${processor.toFixed(1)} s, exit ${code}`,
  );
}

try {
  const dump = writeOldPanelDump(folder, { users, services, orders, openEvery: 20 });
  const map = join(folder, "map.toml");
  writeFileSync(map, OLD_PANEL_MAP);
  const serving = Bun.spawn([BINARY, "serve", "--port", "0"], { cwd: folder, stdout: "pipe" });
  for await (const _ of serving.stdout) break;
  serving.kill("SIGTERM");
  await serving.exited;
  const url = "http://127.0.0.1:1/";
  const provider = ["admin", "provider", "create", "upstream", "--url", url, "--key-stdin"];
  await run("provider", [...provider, "--no-check"], "key");
  const source = ["--format", "smartpanel", "--dump", dump, "--map", map, "--yes"];
  await run("import", ["admin", "import", "panel", ...source]);
  await run("the same again", ["admin", "import", "panel", ...source]);
  await run("verify", ["verify"]);
} finally {
  rmSync(folder, { recursive: true });
}
