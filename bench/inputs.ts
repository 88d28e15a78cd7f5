// Processor time of the server for each 64 KB of the worst inputs known for each parser, over HTTP: `bun bench/inputs.ts
// [BINARY] [ROUNDS]`. Figures in bench/README.md. Inputs beyond a limit count with what was sent of them.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const BINARY = process.argv[2] ?? new URL("../dist/reseller", import.meta.url).pathname;
const ROUNDS = Number(process.argv[3] ?? 40);
const KB64 = 64 * 1024;

interface Input {
  /** Where it goes. */
  to: "api" | "panel";
  bytes: Buffer;
  /** Sent one byte at a time. */
  isDribbled?: boolean;
}

const head = (line: string, fields: readonly string[] = []) =>
  `${[`${line} HTTP/1.1`, "host: 127.0.0.1", "connection: close", ...fields].join("\r\n")}\r\n\r\n`;
const bodied = (line: string, type: string, body: string, fields: readonly string[] = []) =>
  head(line, [`content-type: ${type}`, `content-length: ${Buffer.byteLength(body)}`, ...fields]) +
  body;
const filled = (piece: string, bytes: number) => piece.repeat(Math.floor(bytes / piece.length));

/** Just below the limits, so that everything is read. */
const HEAD = 15_500;
const BODY = 65_000;
const FORM = 4_000_000;
const FORM_TYPE = "application/x-www-form-urlencoded";
const JSON_TYPE = "application/json";

function inputs(key: string): Record<string, Input> {
  const keyed = [`x-api-key: ${key}`];
  const api = (text: string, isDribbled = false): Input => ({
    to: "api",
    bytes: Buffer.from(text, "latin1"),
    isDribbled,
  });
  const panel = (text: string): Input => ({ to: "panel", bytes: Buffer.from(text, "latin1") });
  const json = (body: string) => api(bodied("POST /api/v1/orders", JSON_TYPE, body, keyed));
  const batch = (body: string) => api(bodied("POST /api/v1/orders/batch", JSON_TYPE, body, keyed));
  const v2 = (type: string, body: string) => api(bodied("POST /api/v2", type, body));
  const query = (text: string) => api(head(`GET /api/v1/orders?${text}`, keyed));
  const boundary = "multipart/form-data; boundary=b";
  const part = (name: string) =>
    `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n\r\n`;
  const signIn = (type: string, body: string) =>
    panel(
      bodied("POST /sign-in", type, body, [
        "origin: http://127.0.0.1",
        "sec-fetch-site: same-origin",
      ]),
    );
  return {
    "head: a small request": api(head("GET /livez")),
    "head: 16,000 empty fields": api(`GET / HTTP/1.1\r\n${"a:\r\n".repeat(16_000)}\r\n`),
    "head: 12,000 fields a:b": api(`GET / HTTP/1.1\r\n${"a:b\r\n".repeat(12_000)}\r\n`),
    "head: the same, unknown method": api(`FOO / HTTP/1.1\r\n${"a:\r\n".repeat(16_000)}\r\n`),
    "head: the same, target beyond ASCII": api(
      `GET /\xfc HTTP/1.1\r\n${"a:\r\n".repeat(16_000)}\r\n`,
    ),
    "head: one name of 15 KB": api(head("GET /livez", ["a".repeat(HEAD)])),
    "head: blank lines": api("\r\n".repeat(KB64 / 2)),
    "head: pipelined requests": api(
      "GET / HTTP/1.1\r\nhost:x\r\n\r\n".repeat(2500) + head("GET /"),
    ),
    "head: pipelined unknown methods": api(
      "A / HTTP/1.1\r\nhost:x\r\n\r\n".repeat(2500) + head("GET /"),
    ),
    "head: pipelined targets beyond ASCII": api(
      "GET /\xfc HTTP/1.1\r\nhost:x\r\n\r\n".repeat(2000) + head("GET /"),
    ),
    "head: byte by byte": api(head("GET /livez", [`a: ${"b".repeat(4000)}`]), true),
    "head: unknown method byte by byte": api(head(`FOO /${"b".repeat(4000)}`), true),
    "target: 15 KB of %": api(head(`GET /${filled("%", HEAD)}`)),
    "target: 15 KB of %41": api(head(`GET /${filled("%41", HEAD)}`)),
    "target: 15 KB of slashes": api(head(`GET ${filled("/", HEAD)}`)),
    "target: 5 KB beyond ASCII": api(head(`GET /${"\xfc".repeat(5000)}`)),
    "query: a&a&a": query(filled("a&", HEAD)),
    "query: %%%": query(`reference=${filled("%", HEAD)}`),
    "query: ids=1,1,1": query(`ids=${filled("1,", HEAD)}`),
    "query: cursor": query(`cursor=${filled("A", HEAD)}`),
    "query: from": query(`from=${filled("1", HEAD)}`),
    "field: x-api-key": api(head("GET /api/v1/balance", [`x-api-key: ${filled("r", HEAD)}`])),
    "field: x-request-id": api(head("GET /livez", [`x-request-id: ${filled("a", HEAD)}`])),
    "field: idempotency-key": api(
      bodied("POST /api/v1/orders", JSON_TYPE, '{"service":"s","link":"x","quantity":1}', [
        ...keyed,
        `idempotency-key: ${filled("a", HEAD)}`,
      ]),
    ),
    "field: accept": api(
      head("GET /api/v1/transactions", [...keyed, `accept: ${filled(", ", HEAD)}`]),
    ),
    "field: x-forwarded-for": api(
      head("GET /api/v1/balance", [
        "x-api-key: rk_no",
        `x-forwarded-for: ${filled("127.0.0.1,", HEAD)}`,
      ]),
    ),
    "field: cookie": panel(head("GET /", [`cookie: ${filled("a;", HEAD)}`])),
    "body: [[[[": json(filled("[", BODY)),
    'body: {"a":{"a":': json(filled('{"a":', BODY)),
    "body: nested and closed": json(`{"a":${"[".repeat(30_000)}${"]".repeat(30_000)}}`),
    "body: [0,0,0": json(`{"a":[${filled("0,", BODY)}0]}`),
    "body: many names": json(
      `{${Array.from({ length: 6000 }, (_, n) => `"${n.toString(36)}":1`).join()}}`,
    ),
    "body: a number of 60,000 digits": json(
      `{"service":"s","link":"x","quantity":${filled("9", 60_000)}}`,
    ),
    "body: 0.000…1": json(`{"service":"s","link":"x","quantity":0.${filled("0", 60_000)}1}`),
    "body: escapes": json(`{"service":"s","link":"${filled("\\u0041", 60_000)}","quantity":1}`),
    "body: a link of blanks": json(`{"service":"s","link":"${filled(" ", 60_000)}","quantity":1}`),
    "body: a service of 60,000 characters": json(
      `{"service":"${filled("a", 60_000)}","link":"x","quantity":1}`,
    ),
    "body: chunks of one byte": api(
      head("POST /api/v1/orders", [
        ...keyed,
        "content-type: application/json",
        "transfer-encoding: chunked",
      ]) + `${"1\r\n[\r\n".repeat(11_000)}0\r\n\r\n`,
    ),
    "batch: 100 orders": batch(
      `{"orders":[${Array(100)
        .fill(`{"service":"s","link":"${"x".repeat(500)}","quantity":0}`)
        .join()}]}`,
    ),
    "batch: 20,000 entries": batch(`{"orders":[${filled("{},", BODY)}{}]}`),
    "/api/v2: a&a&a": v2(FORM_TYPE, filled("a&", BODY)),
    "/api/v2: a[]&a[]": v2(FORM_TYPE, filled("a[]&", BODY)),
    "/api/v2: [[[[ as a name": v2(FORM_TYPE, filled("[", BODY)),
    "/api/v2: %%%": v2(FORM_TYPE, filled("%", BODY)),
    "/api/v2: orders=1,1,1": v2(FORM_TYPE, `key=${key}&action=status&orders=${filled("1,", BODY)}`),
    "/api/v2: orders=[0,0,0": v2(
      FORM_TYPE,
      `key=${key}&action=status&orders=[${filled("0,", BODY)}0]`,
    ),
    "/api/v2: JSON [0,0,0": v2(JSON_TYPE, `{"a":[${filled("0,", BODY)}0]}`),
    "/api/v2: JSON nested": v2(JSON_TYPE, `{"a":${"[".repeat(30_000)}${"]".repeat(30_000)}}`),
    "/api/v2: JSON many names": v2(
      JSON_TYPE,
      `{${Array.from({ length: 6000 }, (_, n) => `"${n.toString(36)}":1`).join()}}`,
    ),
    "/api/v2: JSON of blanks": v2("text/plain", `${filled(" ", BODY)}`),
    "/api/v2: multipart": v2(boundary, `${filled(part("a"), BODY)}--b--\r\n`),
    "/api/v2: multipart of dashes": v2(boundary, filled("--b\r\n", BODY)),
    "panel, not signed in: a&a&a": signIn(FORM_TYPE, filled("a&", FORM)),
    "panel, not signed in: a=%%%": signIn(FORM_TYPE, `a=${filled("%", FORM)}`),
    "panel, not signed in: multipart": signIn(boundary, `${filled(part("a"), FORM)}--b--\r\n`),
    "panel, not signed in: multipart of dashes": signIn(boundary, filled("--b\r\n", FORM)),
  };
}

/** In milliseconds, of all threads. */
function processorTime(pid: number): number {
  let total = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    total += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]);
  }
  return total / 1e6;
}

/** Resolves once the server has closed the connection. */
function send(port: number, { bytes, isDribbled }: Input): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true });
    socket.on("error", () => {});
    socket.on("close", () => resolve());
    socket.resume();
    if (!isDribbled) return void socket.write(bytes);
    let at = 0;
    const next = () => {
      if (at === bytes.length || socket.destroyed) return;
      socket.write(bytes.subarray(at, ++at), () => setImmediate(next));
    };
    socket.on("connect", next);
  });
}

function run(folder: string, ...argv: string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync([BINARY, ...argv, "--data", folder]);
  if (exitCode !== 0) throw new Error(stderr.toString());
  return stdout.toString();
}

const folder = mkdtempSync(join(tmpdir(), "reseller-inputs-"));
const flags =
  "--port 0 --rate-limit 0 --log-level warn --log-format json --trusted-proxy 127.0.0.0/8";
const server = Bun.spawn(
  [BINARY, "serve", ...flags.split(" "), "--panel-listen", "127.0.0.1:0", "--data", folder],
  { stdout: "pipe", stderr: "inherit" },
);
try {
  let printed = "";
  const ports: Record<string, number> = {};
  for await (const chunk of server.stdout) {
    printed += new TextDecoder().decode(chunk);
    ports["api"] = Number(/listening on http:.*:(\d+)/.exec(printed)?.[1] ?? 0);
    ports["panel"] = Number(/panel is at http:.*:(\d+)/.exec(printed)?.[1] ?? 0);
    if (ports["api"] && ports["panel"]) break;
  }
  run(folder, ..."admin user create alice".split(" "));
  run(folder, ..."admin service create --id s --name S --price 1 --min 1 --max 1000".split(" "));
  const created = run(folder, ..."admin key create --user alice --type order --json".split(" "));
  const { key } = JSON.parse(created) as { key: string };
  const rows: { name: string; bytes: number; each: number; per64: number }[] = [];
  for (const [name, input] of Object.entries(inputs(key))) {
    const rounds = Math.max(3, Math.min(ROUNDS, Math.round((ROUNDS * KB64) / input.bytes.length)));
    const port = ports[input.to]!;
    for (let warm = 0; warm < Math.min(rounds, 5); warm++) await send(port, input);
    const before = processorTime(server.pid);
    for (let round = 0; round < rounds; round++) await send(port, input);
    const each = (processorTime(server.pid) - before) / rounds;
    rows.push({ name, bytes: input.bytes.length, each, per64: (each * KB64) / input.bytes.length });
  }
  for (const { name, bytes, each, per64 } of rows) {
    console.log(`| ${name} | ${bytes} | ${each.toFixed(2)} | ${per64.toFixed(1)} |`);
  }
} finally {
  server.kill();
  await server.exited;
  rmSync(folder, { recursive: true });
}
