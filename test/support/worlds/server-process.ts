// The compiled binary as a process of its own: started, called, stopped or killed.

import { callApi, type Answer } from "./service.ts";

export const BINARY = new URL("../../../dist/reseller", import.meta.url).pathname;
/** From the start of a process to the line that says it listens: then it hangs, and is not merely slow. */
const START_MILLISECONDS = 300_000;

export interface ServerProcess {
  url: string;
  pid: number;
  /** Asks it to stop and resolves with its exit code. */
  stop(): Promise<number>;
  /** Ends it between two instructions. */
  kill(): Promise<void>;
  /** Resolves with the exit code, once it has ended by itself. */
  exited: Promise<number>;
  /** What it has logged by now. */
  log(): string;
}

export interface ServerOptions {
  data: string;
  binary?: string;
  arguments?: string[];
  environment?: Record<string, string>;
}

/** Starts `serve`. Rejects with its log when it ends before it listens. */
export async function startServerProcess(options: ServerOptions): Promise<ServerProcess> {
  const { data, binary = BINARY, environment = {} } = options;
  const server = Bun.spawn(
    [
      binary,
      ...`serve --data ${data} --port 0 --rate-limit 0`.split(" "),
      ...(options.arguments ?? []),
    ],
    {
      stdout: "pipe",
      stderr: "pipe",
      env: { PATH: process.env["PATH"], RESELLER_ENV_FILE: "none", ...environment },
    },
  );
  let log = "";
  const logged = (async () => {
    for await (const text of server.stderr.pipeThrough(new TextDecoderStream())) log += text;
  })();
  const tooLong = setTimeout(() => server.kill("SIGKILL"), START_MILLISECONDS);
  const line = await firstLine(server.stdout);
  clearTimeout(tooLong);
  const url = /^listening on (https?:\/\/\S+)$/.exec(line)?.[1];
  if (!url) {
    const code = await server.exited;
    await logged;
    throw new Error(`serve did not start (exit ${code}): ${log}`);
  }
  // Ended is a process whose last words were heard.
  const exited = logged.then(() => server.exited);
  return {
    url,
    pid: server.pid,
    exited,
    log: () => log,
    stop() {
      server.kill("SIGTERM");
      return exited;
    },
    async kill() {
      server.kill("SIGKILL");
      await exited;
    },
  };
}

/** Runs one command of the binary to its end. */
export async function runBinary(
  args: readonly string[],
  options: { binary?: string; environment?: Record<string, string>; stdin?: string } = {},
): Promise<{ exitCode: number; stdout: string; stderr: string }> {
  const child = Bun.spawn([options.binary ?? BINARY, ...args], {
    stdin: options.stdin === undefined ? "ignore" : Buffer.from(options.stdin),
    stdout: "pipe",
    stderr: "pipe",
    env: { PATH: process.env["PATH"], RESELLER_ENV_FILE: "none", ...options.environment },
  });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { exitCode: await child.exited, stdout, stderr };
}

/** A call that may find the server gone: null then. */
export async function tryCall(...call: Parameters<typeof callApi>): Promise<Answer | null> {
  try {
    return await callApi(...call);
  } catch {
    return null;
  }
}

async function firstLine(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string> {
  let text = "";
  for await (const part of stream.pipeThrough(new TextDecoderStream())) {
    text += part;
    if (text.includes("\n")) break;
  }
  return text.trim();
}
