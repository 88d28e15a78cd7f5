// deploy/reseller.service as systemd applies it, without systemd: a script that starts the binary behind the unit's
// seccomp filter, limits, user and read-only file system.

import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freshFolder } from "../../support/folders.ts";
import { type Refused, seccompFilter, SETTINGS_FILTERED } from "./filter.ts";

const ROOT = new URL("../../..", import.meta.url).pathname;
/** `nobody`: any but root. */
const USER = 65_534;

/** What launcher.c applies, where root runs it the first line as well. */
const SETTINGS_LAUNCHED = [
  "User", "CapabilityBoundingSet", "AmbientCapabilities", "ProtectSystem", "ProtectHome", "ProtectProc",
  "NoNewPrivileges", "LimitNOFILE", "UMask",
]; // prettier-ignore
/** What says how and when systemd starts the program, or hides what the tests show nothing about. */
const SETTINGS_LEFT_OUT = [
  "ExecStart", "ExecReload", "Environment", "EnvironmentFile", "Group", "StateDirectory", "StateDirectoryMode",
  "ConfigurationDirectory", "ConfigurationDirectoryMode", "Restart", "RestartSec", "TimeoutStopSec",
  "PrivateTmp", "PrivateUsers", "ProtectControlGroups", "ProtectKernelTunables", "RemoveIPC", "DevicePolicy",
]; // prettier-ignore
export const SETTINGS_KNOWN = [...SETTINGS_FILTERED, ...SETTINGS_LAUNCHED, ...SETTINGS_LEFT_OUT];

export type Settings = [name: string, value: string][];

export function unitText(): string {
  return readFileSync(join(ROOT, "deploy/reseller.service"), "utf8");
}

/** The settings of the unit's [Service], in their order. */
export function unitSettings(): Settings {
  const service = /^\[Service\]\n([^]*?)(?=^\[)/m.exec(unitText())![1]!;
  return [...service.matchAll(/^(\w+)=(.*)$/gm)].map(([, name, value]) => [name!, value!]);
}

export interface Confined {
  /** Starts the binary like the binary. */
  program: string;
  /** The only folder it may write. */
  folder: string;
  /** Gives what is in the folder to the user of the program. */
  handOver: () => void;
}

/** `settings` are the unit's, or what a test makes of them. */
export function confine(settings: Settings, refused: Refused): Confined {
  const tools = freshFolder();
  const folder = freshFolder();
  const launcher = join(tools, "launcher");
  const source = new URL("./launcher.c", import.meta.url).pathname;
  run("gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", launcher, source);
  const filter = join(tools, "filter");
  writeFileSync(filter, seccompFilter(settings, refused));
  // Where that user can read it, wherever the repository is.
  const binary = join(tools, "reseller");
  copyFileSync(join(ROOT, "dist/reseller"), binary);
  const openFiles = settings.find(([name]) => name === "LimitNOFILE")![1];
  const program = join(tools, "confined");
  const line = [launcher, filter, openFiles, USER, folder, binary].join(" ");
  writeFileSync(program, `#!/bin/sh\nexec ${line} "$@"\n`, { mode: 0o755 });
  const isRoot = process.getuid?.() === 0;
  if (isRoot) run("chmod", "711", tools);
  const handOver = () => {
    if (isRoot) run("chown", "-R", String(USER), folder);
  };
  handOver();
  return { program, folder, handOver };
}

function run(...argv: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(argv);
  if (exitCode !== 0) throw new Error(`${argv.join(" ")}: ${String(stderr)}`);
}
