// The background job that issues invoices for what is due. The command gives the numbers, so that a crash, a second server
// or a repeated run neither skips nor doubles one.

import { Refusal } from "../domain/values/error-table.ts";
import { MINUTE_MS, SECOND_MS } from "../domain/values/spans.ts";
import type { Logger } from "../monitoring/log.ts";
import type { Writer } from "../writer/writer.ts";
import type { BackgroundJob } from "./housekeeping.ts";

const INTERVAL_MS = MINUTE_MS;
const SYSTEM = { keyId: null, operator: null };
/** Invoices of one command, which take some milliseconds of the writer's time. */
const LIMIT = 20;
/** Delay between two commands, during which the writer is free for orders. */
const DELAY_MS = SECOND_MS / 10;

export interface InvoicesOptions {
  interval?: number;
  delay?: number;
  /** Who issues invoices, by the settings of the server; null: not set. */
  seller?: { sellerName: string; sellerAddress: string } | null;
  /** Returns whether this server issues invoices on behalf of all servers. */
  isLeader?: () => boolean;
}

/** Starts the job, which begins immediately. */
export function startInvoices(
  writer: Pick<Writer, "submit">,
  log: Logger,
  {
    interval = INTERVAL_MS,
    delay = DELAY_MS,
    seller = null,
    isLeader = () => true,
  }: InvoicesOptions = {},
): BackgroundJob {
  let stopped = false;
  let timer: Timer | undefined;
  /**
   * The seller from the settings until it is stored in the database, where all commands and servers read it; then null.
   */
  let newSeller = seller;
  const issue = async (): Promise<void> => {
    if (!isLeader()) return;
    try {
      if (newSeller) await writer.submit("setInvoicing", { changes: newSeller, actor: SYSTEM });
      newSeller = null;
      while (!stopped && (await writer.submit("issueInvoices", { limit: LIMIT })) > 0) {
        await Bun.sleep(delay);
      }
    } catch (error) {
      // The disk or the queue is full, or the database is unreachable: the next run continues.
      if (!(error instanceof Refusal)) {
        log.error({ error: String(error) }, "invoices could not be issued");
      }
    }
  };
  const run = async (): Promise<void> => {
    await issue();
    if (!stopped) timer = setTimeout(() => (running = run()), interval);
  };
  let running = run();
  return {
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
