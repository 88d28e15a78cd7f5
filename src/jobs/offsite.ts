// Copies each backup off-site, in a process of low priority that rests most of the time (`reseller backup send`,
// paced-process.ts). So neither the upload nor its compression slows the server. A failed copy is retried with
// exponential backoff until it succeeds or a newer backup takes its place. docs/specification/storage.md#offsite

import { basename } from "node:path";
import type { Logger } from "../monitoring/log.ts";
import { listBackups } from "../storage/backup/backup-folder.ts";
import { parseBackupName } from "../storage/backup/backup-names.ts";
import { readInstanceId } from "../storage/file/instance.ts";
import type { BackgroundJob } from "./housekeeping.ts";
import { type PacedProcess, startPaced } from "./paced-process.ts";
import { MINUTE_MS, HOUR_MS } from "../domain/values/spans.ts";

/** The first pause after a failure. It doubles with each failure, up to RETRY_LIMIT_MS. */
const RETRY_MS = MINUTE_MS;
const RETRY_LIMIT_MS = HOUR_MS;

export interface OffsitePlan {
  data: string;
  /** The folder of the server's backups. */
  folder: string;
  /** The environment of the process, which has the settings of the store as variables. */
  environment: Record<string, string | undefined>;
  retryMs?: number;
  /** The beginning of the process's command line; the default is this program's. */
  program?: readonly string[] | undefined;
}

export interface Offsite extends BackgroundJob {
  /** Copies this backup; it replaces one that is still waiting. */
  copy(file: string): void;
  /** Returns the backup that is being copied. */
  inUse(): string | null;
  /** Returns when the newest copied backup was begun; null if none is known. */
  newestAt(): number | null;
}

export function startOffsite(plan: OffsitePlan, log: Logger): Offsite {
  const { data, folder, environment, retryMs = RETRY_MS, program } = plan;
  let waiting: string | null = null;
  let current: string | null = null;
  let newestAt: number | null = null;
  let child: PacedProcess | null = null;
  let running: Promise<void> | null = null;
  let endPause = () => {};
  let stopped = false;

  const send = async (file: string): Promise<void> => {
    child = startPaced(["backup", "send", file, "--data", data, "--json"], {
      program,
      file,
      environment,
    });
    const { code, result, messages } = await child.ended;
    if (code !== 0) throw new Error(messages);
    if (messages !== "") log.warn({ file, messages }, "off-site copy warning");
    const begunAt = parseBackupName(basename(file))?.begunAt ?? null;
    newestAt = Math.max(newestAt ?? 0, begunAt ?? 0) || null;
    log.info(JSON.parse(result) as object, "backup copied off-site");
  };
  const pause = (milliseconds: number): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, milliseconds);
    endPause = () => {
      clearTimeout(timer);
      resolve();
    };
    return promise;
  };
  const run = async (): Promise<void> => {
    for (let delay = retryMs; waiting !== null && !stopped;) {
      const file: string = (current = waiting);
      waiting = null;
      const failure = await send(file).then(
        () => null,
        (error: unknown) => (error instanceof Error ? error.message : String(error)),
      );
      current = null;
      if (failure === null) delay = retryMs;
      else if (!stopped) {
        const retryInSeconds = delay / 1000;
        log.error({ file, error: failure, retryInSeconds }, "backup not copied off-site");
        waiting ??= file;
        await pause(delay);
        delay = Math.min(delay * 2, RETRY_LIMIT_MS);
      }
    }
  };
  const copy = (file: string) => {
    if (stopped) return;
    waiting = file;
    endPause();
    running ??= run().finally(() => {
      running = null;
      if (waiting !== null) copy(waiting);
    });
  };

  const newest = newestLocal(data, folder, log);
  if (newest !== null) copy(newest);
  return {
    copy,
    inUse: () => current,
    newestAt: () => newestAt,
    async stop() {
      stopped = true;
      endPause();
      child?.kill();
      await running;
    },
  };
}

/** Returns the newest local backup, which may not have been copied before the last stop. */
function newestLocal(data: string, folder: string, log: Logger): string | null {
  try {
    const instance = readInstanceId(data);
    const [newest] = instance === null ? [] : listBackups(folder, instance, Date.now());
    return newest?.file ?? null;
  } catch (error) {
    log.error({ folder, error: String(error) }, "backups cannot be listed");
    return null;
  }
}
