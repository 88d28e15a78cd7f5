// The machine and the versions, without which a figure means nothing.

import { cpus, loadavg, totalmem, version } from "node:os";
import { tmpdir } from "node:os";
import { fileSystemUnder } from "../../src/storage/file/file-systems.ts";
import { runToEnd } from "./children.ts";
import { timeFsync } from "./fsync.ts";

export async function describeMachine(): Promise<Record<string, string>> {
  return {
    processor: `${cpus().length} × ${cpus()[0]?.model}`,
    memory: `${Math.round(totalmem() / 2 ** 30)} GB`,
    system: version(),
    "load before": loadavg()
      .map((load) => load.toFixed(1))
      .join(" "),
    "file system": fileSystemUnder(tmpdir()) ?? "unknown",
    "fsync, median": `${timeFsync().toFixed(2)} ms`,
    bun: `${Bun.version} (${Bun.revision.slice(0, 9)})`,
    node: await firstLine(["node", "--version"]),
    wrk: await firstLine(["sh", "-c", "wrk -v 2>&1 || true"]),
    postgresql: await firstLine(["/usr/lib/postgresql/15/bin/postgres", "--version"]),
    reseller: await firstLine(["dist/reseller", "version"]),
    peers: Object.entries(peers)
      .map(([name, version]) => `${name} ${version}`)
      .join(", "),
  };
}

const { dependencies: peers } = (await Bun.file(
  `${import.meta.dir}/../peers/package.json`,
).json()) as { dependencies: Record<string, string> };

async function firstLine(command: string[]): Promise<string> {
  try {
    const output = await runToEnd(command);
    return output.split("\n")[0]!.trim();
  } catch {
    return "not here";
  }
}
