// dist/reseller as processes of its own, in folders and environments of their own: run, served, called, stopped or killed.

import { existsSync } from "node:fs";
import { type Answer, type Body, callApi } from "./http/api.ts";

export const BINARY = new URL("../../dist/reseller", import.meta.url).pathname;
/** From the start of a process to the line that says it listens: then it hangs, and is not merely slow. */
const START_MILLISECONDS = 240_000;

export interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs a command line to its end. */
export async function binary(folder: string, ...argv: string[]): Promise<Ended> {
  return binaryWith({}, folder, ...argv);
}

/** The same with further variables in its environment. */
export async function binaryWith(
  environment: Record<string, string>,
  folder: string,
  ...argv: string[]
): Promise<Ended> {
  const child = spawn(folder, argv, environment);
  const [stdout, stderr] = await Promise.all([textOf(child.stdout), textOf(child.stderr)]);
  return { code: await child.exited, stdout, stderr };
}

/** The JSON that a command printed; it must have succeeded. */
export async function binaryJson(folder: string, ...argv: string[]): Promise<Body> {
  const { code, stdout, stderr } = await binary(folder, ...argv, "--json");
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

export interface Serving {
  pid: number;
  url: string;
  /** Everything it has printed so far. */
  stdout(): string;
  stderr(): string;
  kill(signal: NodeJS.Signals): void;
  ended: Promise<Ended>;
}

/**
 * Starts `serve`, `quickstart` or `demo` on a free port; resolves once it says where it listens.
 * Nobody is limited in how often they ask, unless `argv` says so.
 */
export async function serving(folder: string, ...argv: string[]): Promise<Serving> {
  return servingWith({}, folder, ...argv);
}

/** The same with further variables in its environment. */
export async function servingWith(
  environment: Record<string, string>,
  folder: string,
  ...argv: string[]
): Promise<Serving> {
  return servingAs([], environment, folder, ...argv);
}

/** The same, started by a command that ends in `exec` of what follows. */
export async function servingAs(
  launcher: readonly string[],
  environment: Record<string, string>,
  folder: string,
  ...argv: string[]
): Promise<Serving> {
  const [command, ...flags] = argv;
  const unlimited = command === "demo" ? [] : ["--rate-limit", "0"];
  const started = [command!, "--port", "0", ...unlimited, ...flags];
  const child = spawn(folder, started, environment, launcher);
  const { url, printed, ended } = await listening(child);
  return {
    pid: child.pid,
    url,
    stdout: () => printed.stdout,
    stderr: () => printed.stderr,
    kill: (signal) => child.kill(signal),
    ended,
  };
}

/** Once a process has said where it listens: rejects with its log when it ends before. */
async function listening(child: ReturnType<typeof spawn>) {
  const printed = { stdout: "", stderr: "" };
  const said = Promise.withResolvers<string>();
  const gather = async (name: "stdout" | "stderr") => {
    for await (const text of child[name].pipeThrough(new TextDecoderStream())) {
      printed[name] += text;
      const url = /^listening on (https?:\S+)\n/m.exec(printed.stdout);
      if (url) said.resolve(url[1]!);
    }
  };
  // Ended is a process whose last words were heard.
  const ended = Promise.all([gather("stdout"), gather("stderr"), child.exited]).then(
    ([, , code]) => {
      said.reject(new Error(`it did not start (exit ${code}): ${printed.stderr}`));
      return { code, ...printed };
    },
  );
  const tooLong = setTimeout(() => child.kill("SIGKILL"), START_MILLISECONDS);
  const url = await said.promise.finally(() => clearTimeout(tooLong));
  return { url, printed, ended };
}

/** Stops it as an operator does; it must end well. */
export async function stop(server: Serving): Promise<void> {
  server.kill("SIGTERM");
  const { code, stderr } = await server.ended;
  if (code !== 0) throw new Error(`ended with ${code}: ${stderr}`);
}

/** A running server with a reseller of 1,000,000 USD, a service `s` and a key. */
export async function stall(folder: string, ...flags: string[]) {
  return stallWith({}, folder, ...flags);
}

/** The same with further variables in the server's environment. */
export async function stallWith(
  environment: Record<string, string>,
  folder: string,
  ...flags: string[]
) {
  return stallOf(await servingWith(environment, folder, "serve", ...flags), folder);
}

/** The same of a server that runs. */
export async function stallOf(server: Serving, folder: string) {
  await binaryJson(folder, "admin", "user", "create", "alice");
  await binaryJson(folder, "admin", "user", "credit", "alice", "1000000", "--yes");
  await binaryJson(
    folder,
    ..."admin service create --id s --name S --price 1 --min 1 --max 1000".split(" "),
  );
  const { key } = await binaryJson(
    folder,
    ..."admin key create --user alice --type full --reach all".split(" "),
  );
  return { server, key: String(key) };
}

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

/** A run that fails leaves no server behind. */
const running = new Set<ReturnType<typeof spawned>>();
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/** Starts `serve` on a data folder. Rejects with its log when it ends before it listens. */
export async function startServerProcess(options: ServerOptions): Promise<ServerProcess> {
  const { data, binary: program = BINARY, environment = {} } = options;
  const serve = `serve --data ${data} --port 0 --rate-limit 0`.split(" ");
  const child = spawned([program, ...serve, ...(options.arguments ?? [])], environment);
  running.add(child);
  void child.exited.then(() => running.delete(child));
  const { url, printed, ended } = await listening(child);
  const exited = ended.then(({ code }) => code);
  return {
    url,
    pid: child.pid,
    exited,
    log: () => printed.stderr,
    stop() {
      child.kill("SIGTERM");
      return exited;
    },
    async kill() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

/** Runs one command of a binary to its end. */
export async function runBinary(
  args: readonly string[],
  options: { binary?: string; environment?: Record<string, string>; stdin?: string } = {},
): Promise<{ exitCode: number; stdout: string; stderr: string }> {
  const { binary: program = BINARY, environment = {}, stdin } = options;
  const child = spawned([program, ...args], environment, { stdin });
  const [stdout, stderr] = await Promise.all([textOf(child.stdout), textOf(child.stderr)]);
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

export interface Load {
  /** Links of the orders that were answered with success. */
  answered: string[];
  /** Answers that were neither success nor 503. */
  others: number[];
  /** Resolves once nothing is answered any more. */
  over: Promise<unknown>;
}

/** Orders without end on `connections` connections at once, each order with a link of its own. */
export function load(url: string, key: string, connections: number): Load {
  const result = { answered: [] as string[], others: [] as number[] };
  const lane = async (number: number) => {
    for (let count = 0; ; count++) {
      const link = `lane-${number}-${count}`;
      const status = await postOrder(url, key, link).catch(() => 0);
      if (status === 0) return;
      if (status === 200) result.answered.push(link);
      else if (status !== 503) result.others.push(status);
    }
  };
  const over = Promise.all(Array.from({ length: connections }, (_, number) => lane(number)));
  return { ...result, over };
}

export async function postOrder(url: string, key: string, link: string): Promise<number> {
  const response = await fetch(`${url}/api/v1/orders`, {
    method: "POST",
    headers: { "x-api-key": key, "content-type": "application/json" },
    body: JSON.stringify({ service: "s", link, quantity: 1 }),
    // A connection each: what is refused was never sent.
    keepalive: false,
  });
  await response.text();
  return response.status;
}

function spawn(
  folder: string,
  argv: string[],
  environment: Record<string, string> = {},
  launcher: readonly string[] = [],
) {
  const command = [...launcher, BINARY, ...argv];
  const child = spawned(command, { HOME: folder, ...environment }, { cwd: folder });
  // A test that fails leaves no server behind.
  process.on("exit", () => child.kill("SIGKILL"));
  return child;
}

function spawned(
  command: string[],
  environment: Record<string, string>,
  { cwd, stdin }: { cwd?: string; stdin?: string | undefined } = {},
) {
  if (command.includes(BINARY) && !existsSync(BINARY)) {
    throw new Error(`${BINARY} is not there: run \`bun run build\``);
  }
  return Bun.spawn(command, {
    ...(cwd === undefined ? {} : { cwd }),
    // Nothing of the caller's settings, nor what this machine has in /etc.
    env: { PATH: process.env["PATH"] ?? "", RESELLER_ENV_FILE: "none", ...environment },
    stdin: stdin === undefined ? "ignore" : Buffer.from(stdin),
    stdout: "pipe",
    stderr: "pipe",
  });
}

function textOf(stream: ReadableStream): Promise<string> {
  return new Response(stream).text();
}
