// The control of the batch marker: what a server would do that takes a lost COMMIT for one that never was.

import type { Job, Outcome } from "../../../src/db/port/port.ts";
import type { Address } from "../../../src/db/postgres/connection/address.ts";
import { CommitLostError, runInTransaction } from "../../../src/db/postgres/batch/batch.ts";
import { connect, type Connection } from "../../../src/db/postgres/connection/connection.ts";
import { errorClassOf } from "../../../src/db/postgres/connection/errors.ts";

const RECONNECT_MS = 20;

export function createForgetfulStore(address: Address, { turnMs }: { turnMs: number }) {
  let open: Connection | null = null;
  let last: Promise<unknown> = Promise.resolve();

  const run = async (jobs: readonly Job[]): Promise<Outcome[]> => {
    const outcomes: Outcome[] = [];
    while (outcomes.length < jobs.length) {
      try {
        if (!open || open.isLost) {
          open = await connect(address, {
            turnMs,
            connectMs: turnMs,
            name: "forgetful",
            settings: {},
          });
        }
        const result = await runInTransaction(open, jobs.slice(outcomes.length), Date.now());
        outcomes.push(...result.outcomes);
      } catch (error) {
        if (!(error instanceof CommitLostError) && errorClassOf(error) !== "lost") throw error;
        open?.close();
        await Bun.sleep(RECONNECT_MS);
      }
    }
    return outcomes;
  };

  return {
    /** One batch after the other. */
    runBatch(jobs: readonly Job[]): Promise<Outcome[]> {
      const result = last.then(() => run(jobs));
      last = result.catch(() => {});
      return result;
    },
    close: () => open?.close(),
  };
}
