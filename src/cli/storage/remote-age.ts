// The finding of `doctor` about the newest off-site copy. A separate process asks the store, so that it can be
// stopped if the store does not respond.

import { PROGRAM } from "../../config/source-files.ts";
import { environmentWith } from "../../config/flags.ts";
import { REMOTE_FLAGS } from "../../config/settings.ts";
import { formatRemote } from "../../config/remote-values.ts";
import type { Finding } from "../../storage/doctor/findings.ts";
import { readInstanceId } from "../../storage/file/instance.ts";
import type { RemoteOptions } from "./remote.ts";

const TIMEOUT_MS = 20_000;
const WARN_MS = 2 * 24 * 3_600_000;
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
    const found = stderr.trim() || `no response in ${TIMEOUT_MS / 1000} s`;
    return { check: CHECK, state: "fail", found, advice: "see `reseller backup list`" };
  }
  const { copies } = JSON.parse(stdout) as Listed;
  const instance = readInstanceId(options.data);
  const newest = copies.find(({ installation }) => installation === instance);
  const advice = "see the server's log for `backup not copied off-site`";
  if (!newest) {
    const found = `none of this service in ${formatRemote(options.backupTo!)}`;
    return { check: CHECK, state: "warn", found, advice };
  }
  const age = now - Date.parse(newest.begunAt);
  const found = `${newest.name}, ${Math.round(age / 3_600_000)} h old`;
  if (!newest.verified) {
    const keep = "run `reseller verify`, and keep the last copy that is verified";
    return { check: CHECK, state: "warn", found: `${found}, not verified`, advice: keep };
  }
  return age <= WARN_MS
    ? { check: CHECK, state: "ok", found, advice: "" }
    : { check: CHECK, state: "warn", found, advice };
}
