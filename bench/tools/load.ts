// Load by wrk: one thread, a closed loop on each connection, requests built ahead and sent in turn.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { freshFolder, removeFolder, runMeasured } from "./children.ts";

/** One request to make, over and over. */
export interface Shot {
  method: "GET" | "POST";
  /** Without one: /api/v1. */
  root?: "/api/v2";
  /** Below the root. */
  path: string;
  key: string;
  body?: string;
  /** The body is a form, else JSON. */
  isForm?: boolean;
  /** With an Idempotency-Key that no other request has. */
  keyed?: boolean;
}

export interface Load {
  /** Taken in turn, whatever the connection. */
  shots: Shot[];
  connections: number;
  seconds: number;
  /** Before each request of a connection; without one the next follows at once. */
  pauseMilliseconds?: number;
  /** No response at all is a result too. */
  mayStarve?: boolean;
}

export interface Measured {
  perSecond: number;
  requests: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
  /** Processor time of the load generator itself, in microseconds. */
  ownMicroseconds: number;
}

/** Throws unless every request was answered with a 2xx. */
export async function load(url: string, load: Load): Promise<Measured> {
  if (!Bun.which("wrk")) throw new Error("wrk is missing: apt-get install wrk");
  const folder = freshFolder();
  try {
    const script = join(folder, "load.lua");
    writeFileSync(script, scriptOf(load));
    const { connections, seconds } = load;
    const { output: report, microseconds: ownMicroseconds } = await runMeasured([
      "wrk",
      "-t1",
      `-c${connections}`,
      `-d${Math.max(1, Math.round(seconds))}s`,
      "--timeout",
      "30s",
      "-s",
      script,
      url,
    ]);
    const line = /^MEASURED (.*)$/m.exec(report)?.[1];
    if (!line) throw new Error(report);
    const { failed, microseconds, requests, p50, p99 } = JSON.parse(line) as Counted;
    if (failed > 0) throw new Error(`${failed} requests failed:\n${report}`);
    if (requests === 0 && !load.mayStarve)
      throw new Error(`no request was answered in ${seconds} s: take longer loads`);
    return {
      requests,
      perSecond: requests / (microseconds / 1e6),
      p50: p50 / 1000,
      p99: p99 / 1000,
      ownMicroseconds,
    };
  } finally {
    removeFolder(folder);
  }
}

interface Counted {
  failed: number;
  microseconds: number;
  requests: number;
  p50: number;
  p99: number;
}

function scriptOf({ shots, pauseMilliseconds }: Load): string {
  const lines = shots.map((shot) => {
    const body = shot.body === undefined ? "nil" : `'${shot.body}'`;
    const form = shot.isForm ? "x-www-form-urlencoded" : "json";
    const type = shot.body === undefined ? "" : `["content-type"]="application/${form}",`;
    const once = shot.keyed ? `["idempotency-key"]=fresh(),` : "";
    const made = `wrk.format("${shot.method}", "${shot.root ?? "/api/v1"}${shot.path}", {${type}${once}["x-api-key"]="${shot.key}"}, ${body})`;
    // Made ahead where every request is the same.
    return shot.keyed ? `  function() return ${made} end,` : `  ${made},`;
  });
  const take = shots.some(({ keyed }) => keyed) ? "shots[at]()" : "shots[at]";
  const delay = pauseMilliseconds ? `function delay() return ${pauseMilliseconds} end` : "";
  return `
local shots, at, keys = nil, 0, 0
local run = "${crypto.randomUUID()}"
function fresh()
  keys = keys + 1
  return run .. keys
end
function init(args)
  shots = {
${lines.join("\n")}
  }
end
function request()
  at = at % #shots + 1
  return ${take}
end
${delay}
function done(summary, latency)
  local errors = summary.errors
  print(string.format(
    'MEASURED {"failed":%d,"microseconds":%d,"requests":%d,"p50":%d,"p99":%d}',
    errors.connect + errors.read + errors.write + errors.status + errors.timeout,
    summary.duration, summary.requests, latency:percentile(50), latency:percentile(99)))
end
`;
}
