// Copies each backup off-site, in a process of low priority that rests most of the time (`reseller backup send`,
// paced-process.ts), so that neither the upload nor its compression takes anything from the server. A failed one is tried
// again with exponential backoff until it succeeds or a newer backup takes its place. docs/specification.md#offsite

import { basename } from "node:path";
import type { Logger } from "../monitoring/log.ts";
import { listBackups } from "../storage/backup-folder.ts";
import { parseBackupName } from "../storage/backup-names.ts";
import { readInstanceId } from "../storage/instance.ts";
import type { BackgroundJob } from "./expiry.ts";
import { type PacedProcess, startPaced } from "./paced-process.ts";

/** The first and the longest pause after a failure. */
const RETRY_MS = 60_000;
const RETRY_LIMIT_MS = 3_600_000;

export interface OffsitePlan {
  data: string;
  /** Of the server's backups. */
  folder: string;
  /** For the process: the settings of the store are variables in it. */
  environment: Record<string, string | undefined>;
  retryMs?: number;
  /** The beginning of the process's command line: this program's, unless given. */
  program?: readonly string[] | undefined;
}

export interface Offsite extends BackgroundJob {
  /** Copies this backup; one that is still waiting is left out. */
  copy(file: string): void;
  /** The backup that is being copied. */
  inUse(): string | null;
  /** When the newest backup that was copied was begun; null: not known to be any. */
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
    if (messages !== "") log.warn({ file, messages }, "off-site copy warns");
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

/** The newest backup may not have been copied before the last stop. */
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
