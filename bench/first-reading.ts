// A first reading of the compiled binary: start to first answer, resident memory, orders and reads a second.
// `bun run bench` builds the binary first. Traffic to 127.0.0.1 only; everything started is stopped.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";

const BINARY = join(import.meta.dir, "../dist/reseller");
const CONNECTIONS = 128;
const SECONDS = 10;
const STARTS = 11;
const READY = /listening on (http:\S+)/;

if (!Bun.which("wrk")) {
  process.stderr.write("wrk is missing: apt-get install wrk\n");
  process.exit(1);
}
const folder = mkdtempSync(join(tmpdir(), "reseller-bench-"));
try {
  const key = furnish();
  const starts = [];
  for (let round = 0; round < STARTS; round += 1) starts.push(await measureStart());
  const server = await start();
  const idle = residentMegabytes(server.process.pid);
  const orders = load(server.url, key, "orders");
  const balance = load(server.url, key, "balance");
  const loaded = residentMegabytes(server.process.pid);
  await stop(server.process);
  const verified = reseller("verify", "--json").ok === true;
  const table = {
    "start to first answer, median of 11 (ms)": median(starts),
    "resident memory, idle (MB)": idle,
    "resident memory, after the load (MB)": loaded,
    [`POST /orders, ${CONNECTIONS} connections (requests/s)`]: orders,
    [`GET /balance, ${CONNECTIONS} connections (requests/s)`]: balance,
    "verify afterwards": verified ? "ok" : "PROBLEMS",
  };
  process.stdout.write(`${cpus().length} × ${cpus()[0]?.model}, Bun ${Bun.version}\n`);
  for (const [what, value] of Object.entries(table)) {
    process.stdout.write(
      `${what.padEnd(50)}${typeof value === "number" ? value.toFixed(0) : value}\n`,
    );
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function reseller(...words: string[]): Record<string, unknown> {
  const { stdout, stderr, exitCode } = Bun.spawnSync([BINARY, ...words, "--data", folder]);
  if (exitCode !== 0) throw new Error(stderr.toString());
  return JSON.parse(stdout.toString()) as Record<string, unknown>;
}

/** A reseller with a balance for any load, a service, and a key; returns the key. */
function furnish(): string {
  const { exitCode } = Bun.spawnSync(
    ["timeout", "2", BINARY, "serve", "--port", "0", "--data", folder],
    { stderr: "ignore" },
  );
  if (exitCode !== 0 && exitCode !== 124) throw new Error("the server did not start");
  reseller("admin", "user", "create", "bench", "--json");
  reseller("admin", "user", "credit", "bench", "1000000", "--json");
  const service = ["--id", "bench", "--name", "Bench", "--price", "0.01", "--min", "1"];
  reseller("admin", "service", "create", ...service, "--max", "1000", "--json");
  return String(
    reseller("admin", "key", "create", "--user", "bench", "--type", "full", "--json")["key"],
  );
}

async function start() {
  const process = Bun.spawn([BINARY, "serve", "--port", "0", "--data", folder], {
    stdout: "pipe",
    stderr: "ignore",
  });
  const decoder = new TextDecoder();
  let printed = "";
  for await (const chunk of process.stdout) {
    printed += decoder.decode(chunk, { stream: true });
    const url = READY.exec(printed)?.[1];
    if (url) return { process, url };
  }
  throw new Error("the server ended before it answered");
}

async function stop(process: Bun.Subprocess): Promise<void> {
  process.kill("SIGTERM");
  await process.exited;
}

/** Milliseconds from exec to the first answered request. */
async function measureStart(): Promise<number> {
  const started = performance.now();
  const { process, url } = await start();
  await (await fetch(`${url}/livez`)).text();
  const elapsed = performance.now() - started;
  await stop(process);
  return elapsed;
}

/** Requests a second, by wrk; every answer must be a 200. */
function load(url: string, key: string, path: "orders" | "balance"): number {
  const script = join(folder, `${path}.lua`);
  const body = '{"service":"bench","link":"https://example.com/me","quantity":100}';
  const post = `wrk.method="POST"\nwrk.headers["content-type"]="application/json"\nwrk.body='${body}'\n`;
  writeFileSync(script, `wrk.headers["x-api-key"]="${key}"\n${path === "orders" ? post : ""}`);
  const { stdout } = Bun.spawnSync([
    "wrk",
    "-t1",
    `-c${CONNECTIONS}`,
    `-d${SECONDS}`,
    "-s",
    script,
    `${url}/api/v1/${path}`,
  ]);
  const report = stdout.toString();
  if (report.includes("Non-2xx")) throw new Error(report);
  return Number(/Requests\/sec:\s+([\d.]+)/.exec(report)?.[1]);
}

function residentMegabytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}
