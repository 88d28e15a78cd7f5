// A disk whose fsync takes 4 ms, as on a cheap VPS: orders a second, and reads while 64 connections write.

import type { Options } from "../options.ts";
import { expressSqlite } from "../subjects/peers.ts";
import { reseller } from "../subjects/reseller.ts";
import { inTurn, placeOrders, read, RESELLERS } from "../subjects/subject.ts";
import { slowDisk } from "../tools/fsync.ts";
import { load } from "../tools/load.ts";
import type { Results } from "../tools/results.ts";
import { say } from "../tools/say.ts";
import { caseOf, measureOrders, RESELLER_COUNTS } from "./orders.ts";

const FSYNC_MILLISECONDS = 4;
export const WRITERS = 64;
export const READS_MEANWHILE = `GET /balance while ${WRITERS} connections write`;
/** Readers that ask now and then, as people do: about 800 reads a second. */
const READERS = 8;
const READER_PAUSE_MILLISECONDS = 10;

export async function disk(options: Options, results: Results): Promise<void> {
  const { rounds, seconds } = options;
  const env = await slowDisk(FSYNC_MILLISECONDS);
  await inTurn(
    [reseller, expressSqlite],
    rounds,
    async (running, { name }) => {
      for (const resellers of RESELLER_COUNTS) {
        for (const count of options.connections) {
          await measureOrders(running, count, resellers, seconds, (metric, value) =>
            results.add("disk", caseOf(count, resellers), name, metric, value),
          );
        }
      }
      const [, reading] = await Promise.all([
        load(running.url, {
          shots: placeOrders(running, RESELLERS),
          connections: WRITERS,
          seconds: seconds + 1,
        }),
        load(running.url, {
          shots: read("/balance", running, RESELLERS),
          connections: READERS,
          seconds,
          pauseMilliseconds: READER_PAUSE_MILLISECONDS,
        }),
      ]);
      results.add("disk", READS_MEANWHILE, name, "p50 ms", reading.p50);
      results.add("disk", READS_MEANWHILE, name, "p99 ms", reading.p99);
      say(`${READS_MEANWHILE}: p99 ${reading.p99} ms`);
    },
    env,
  );
}
