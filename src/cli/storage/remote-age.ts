// Returns the finding of `doctor` about the newest off-site copy. Asks the store in a separate process, which can be
// stopped if the store does not respond.

import { PROGRAM } from "../../config/source-files.ts";
import { environmentWith } from "../../config/flags.ts";
import { REMOTE_FLAGS } from "../../config/settings.ts";
import { formatRemote } from "../../config/remote-values.ts";
import { conditionsOf } from "../../domain/alerts/conditions.ts";
import { MACHINE_RULES } from "../../domain/alerts/machine-conditions.ts";
import { messageOf } from "../../domain/values/error-table.ts";
import { type Finding, judged } from "../../storage/doctor/findings.ts";
import { readInstanceId } from "../../storage/file/instance.ts";
import type { RemoteOptions } from "./remote.ts";
import { HOUR_MS } from "../../domain/values/spans.ts";

const TIMEOUT_MS = 20_000;
const CHECK = "last off-site copy";

interface Listed {
  copies: { name: string; begunAt: string; installation: string; verified: boolean }[];
}

export async function remoteBackupAge(options: RemoteOptions, now: number): Promise<Finding> {
  const child = Bun.spawn([...PROGRAM, "backup", "list", "--json"], {
    env: environmentWith(options, REMOTE_FLAGS),
    stdout: "pipe",
    stderr: "pipe",
    timeout: TIMEOUT_MS,
  });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  const code = await child.exited;
  if (code !== 0) {
    const found = messageOf(stderr) || `no response in ${TIMEOUT_MS / 1000} s`;
    return { check: CHECK, state: "fail", found, advice: "see `reseller backup list`" };
  }
  const { copies } = JSON.parse(stdout) as Listed;
  const instance = readInstanceId(options.data);
  const newest = copies.find(({ installation }) => installation === instance);
  const facts = {
    newestRemoteAt: newest ? Date.parse(newest.begunAt) : null,
    isRemoteVerified: newest?.verified ?? true,
  };
  const conditions = conditionsOf(MACHINE_RULES, facts, now);
  if (!newest)
    return judged(
      CHECK,
      `no backup of this service in ${formatRemote(options.backupTo!)}`,
      conditions,
    );
  const hours = Math.round((now - Date.parse(newest.begunAt)) / HOUR_MS);
  return judged(CHECK, `${newest.name}, ${hours} h old`, conditions);
}
