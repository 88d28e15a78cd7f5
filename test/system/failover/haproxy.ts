// HAProxy before a Patroni cluster, with the lines of deploy/haproxy.cfg.

import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Member } from "./patroni-cluster.ts";
import { killAll } from "./processes.ts";
import { freePort } from "../../support/ports.ts";

const SETTINGS = new URL("../../../deploy/haproxy.cfg", import.meta.url);

export interface Haproxy {
  port: number;
  stop(): Promise<void>;
}

export async function startHaproxy(members: readonly Member[]): Promise<Haproxy> {
  const folder = mkdtempSync(join(tmpdir(), "reseller-haproxy-"));
  const port = freePort();
  const file = join(folder, "haproxy.cfg");
  writeFileSync(file, settings(port, members));
  const child = Bun.spawn(["setpriv", "--pdeathsig=KILL", "haproxy", "-db", "-f", file], {
    stdout: "ignore",
    stderr: Bun.file(join(folder, "stderr")),
  });
  return { port, stop: () => killAll([child.pid]) };
}

/** Those of the file, but for the addresses. */
function settings(port: number, members: readonly Member[]): string {
  const lines = readFileSync(SETTINGS, "utf8").split("\n");
  const others = lines.filter((line) => !line.startsWith("\tserver "));
  const servers = members.map(
    ({ name, port: own, apiPort }) => `\tserver ${name} 127.0.0.1:${own} check port ${apiPort}`,
  );
  if (others.length + servers.length !== lines.length) throw new Error("not a line for each");
  return [...others, ...servers, ""].join("\n").replace(/bind \S+/, `bind 127.0.0.1:${port}`);
}
