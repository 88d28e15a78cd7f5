// The command-line arguments of `bun run bench`.

import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

export interface Options {
  /** The parts to run. */
  only: string[];
  rounds: number;
  /** How long one load lasts. */
  seconds: number;
  connections: number[];
  /** How many orders the databases of the part `sizes` hold. */
  sizes: number[];
  /** The delays of an fsync, in milliseconds, in the part `postgres`. */
  fsyncs: number[];
  /** How long the load of the part `memory` lasts. */
  minutes: number;
  /** Leave the generated databases where they are, for the next run. */
  keep: boolean;
  cache: string;
  json: string;
}

const USAGE = `bun run bench [--only PART,…] [--rounds N] [--seconds N] [--connections N,…] [--sizes N,…] [--fsyncs N,…]
              [--minutes N] [--keep] [--json FILE]
`;

/** Exits the process on invalid arguments. */
export function readOptions(words: string[], parts: string[]): Options {
  try {
    const { values } = parseArgs({
      args: words,
      options: {
        only: { type: "string", default: parts.join(",") },
        rounds: { type: "string", default: "5" },
        seconds: { type: "string", default: "5" },
        connections: { type: "string", default: "1,8,32,128" },
        sizes: { type: "string", default: "0,1000000,10000000" },
        fsyncs: { type: "string", default: "0,1,4" },
        minutes: { type: "string", default: "10" },
        keep: { type: "boolean", default: false },
        json: { type: "string", default: "dist/bench.json" },
      },
    });
    const only = values.only.split(",");
    const unknown = only.find((part) => !parts.includes(part));
    if (unknown) throw new Error(`there is no part ${unknown}: ${parts.join(", ")}`);
    return {
      only,
      rounds: positive(values.rounds),
      seconds: positive(values.seconds),
      connections: values.connections.split(",").map(positive),
      sizes: values.sizes.split(",").map(zeroOrMore),
      fsyncs: values.fsyncs.split(",").map(zeroOrMore),
      minutes: positive(values.minutes),
      keep: values.keep,
      cache: join(tmpdir(), "reseller-bench-databases"),
      json: resolve(values.json),
    };
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`);
    process.exit(2);
  }
}

function zeroOrMore(text: string): number {
  return text === "0" ? 0 : positive(text);
}

function positive(text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new Error(`${text} is not a positive number`);
  return value;
}
