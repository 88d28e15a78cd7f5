// A disk whose fsync takes 4 ms, as on a cheap VPS: orders a second, and reads while 64 connections write.

import type { Options } from "../options.ts";
import { expressSqlite } from "../subjects/peers.ts";
import { reseller } from "../subjects/reseller.ts";
import { inTurn, placeOrders, read, RESELLERS, type Running } from "../subjects/subject.ts";
import { slowDisk } from "../tools/fsync.ts";
import { load, type Measured } from "../tools/load.ts";
import type { Results } from "../tools/results.ts";
import { say } from "../tools/say.ts";
import { caseOf, measureOrders, modesOf } from "./orders.ts";

export const FSYNC_MILLISECONDS = 4;
export const WRITERS = 64;
export const READS_MEANWHILE = `GET /balance while ${WRITERS} connections write`;
/** Readers that ask now and then, as people do: about 800 reads a second. */
const READERS = 8;
const READER_PAUSE_MILLISECONDS = 10;

export async function disk(options: Options, results: Results): Promise<void> {
  const { rounds, seconds } = options;
  const env = await slowDisk(FSYNC_MILLISECONDS);
  const cases = [...modesOf(options), READS_MEANWHILE] as const;
  await inTurn(
    [reseller, expressSqlite],
    rounds,
    cases,
    async (running, { name }, measured) => {
      if (measured !== READS_MEANWHILE) {
        const what = caseOf(measured.connections, measured.resellers);
        return measureOrders(running, measured, seconds, name, (metric, value) =>
          results.add("disk", what, name, metric, value),
        );
      }
      const { requests, p50, p99 } = await readMeanwhile(running, seconds);
      if (requests === 0) return say(`${READS_MEANWHILE}: no answer in ${seconds} s, ${name}`);
      results.add("disk", READS_MEANWHILE, name, "p50 ms", p50);
      results.add("disk", READS_MEANWHILE, name, "p99 ms", p99);
      say(`${READS_MEANWHILE}: p99 ${p99} ms, ${name}`);
    },
    env,
  );
}

async function readMeanwhile(running: Running, seconds: number): Promise<Measured> {
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
      mayStarve: true,
    }),
  ]);
  return reading;
}
