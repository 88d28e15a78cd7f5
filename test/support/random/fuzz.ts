// Random malformed requests, as bytes on a socket, and what must hold for all of them: a response or a closed
// connection within minutes, never a 500, and no change without a 200.

import fc from "fast-check";
import type { TestDatabase } from "../databases/test-database.ts";

/** A connection that is open longer than this after its request is a hang. */
const HANG_MILLISECONDS = 300_000;
/** A server that was told to close and did not is left alone after this, if it answered. */
const IDLE_MS = 2_000;
const LANES = 16;

export interface FuzzTarget {
  url: string;
  /** A Full Access key of a reseller with money for every order. */
  key: string;
  service: string;
  username: string;
  /** Its database, to count what changed. */
  database: Pick<TestDatabase, "query">;
}

export interface Fuzzed {
  requests: number;
  /** How many answers had each status; 0: closed without one. */
  statuses: Record<string, number>;
  /** Orders and recharges that a 200 told of. */
  changes: number;
}

/** Throws with the request when something does not hold. */
export async function fuzz(target: FuzzTarget, requests: number, seed: number): Promise<Fuzzed> {
  const before = countChanges(target.database);
  const result: Fuzzed = { requests, statuses: {}, changes: 0 };
  const samples = fc.sample(anyRequest(target), { numRuns: requests, seed });
  let next = 0;
  const lane = async () => {
    while (next < samples.length) {
      const request = samples[next++]!;
      const answer = await send(target.url, request);
      check(request, answer);
      const statuses = [...answer.matchAll(/^HTTP\/1\.1 (\d{3}) /gm)].map(([, status]) => status!);
      for (const status of statuses.length > 0 ? statuses : ["0"]) {
        result.statuses[status] = (result.statuses[status] ?? 0) + 1;
      }
      result.changes += changesTold(answer);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  const changed = countChanges(target.database) - before;
  if (changed !== result.changes) {
    throw new Error(`${changed} changes, ${result.changes} told of (seed ${seed})`);
  }
  return result;
}

function check(request: string, answer: string): void {
  // 505: a request line of another protocol than HTTP 1.
  const wrong = /^HTTP\/1\.1 5(?!03|05)\d\d/m.exec(answer)?.[0];
  if (wrong) throw new Error(`${wrong} for ${JSON.stringify(request)}`);
}

function changesTold(answer: string): number {
  const orders = answer.match(/"order":\{(?:(?!"startCount")[^}])*\}/g)?.length ?? 0;
  const recharges = answer.match(/"previousBalance":/g)?.length ?? 0;
  return orders + recharges;
}

function countChanges({ query }: FuzzTarget["database"]): number {
  const [counted] = query<{ changes: number }>(`SELECT (SELECT count(*) FROM orders)
    + (SELECT count(*) FROM transfers WHERE kind = 'recharge') AS changes`);
  return counted!.changes;
}

/** Everything the server sends until it closes. */
async function send(url: string, request: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const bytes = Buffer.from(request, "latin1");
  let received = "";
  let unsent = bytes;
  const push = (socket: { write(data: Uint8Array): number }) => {
    while (unsent.length > 0) {
      const written = socket.write(unsent);
      if (written <= 0) return;
      unsent = unsent.subarray(written);
    }
  };
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      open: push,
      drain: push,
      data: (_, chunk) => void (received += chunk.toString("latin1")),
      close: () => resolve(received),
      error: () => resolve(received),
    },
  });
  const quiet = setTimeout(() => {
    if (received !== "") socket.end();
  }, IDLE_MS);
  const hang = setTimeout(() => {
    reject(new Error(`no answer and no end within minutes: ${JSON.stringify(request)}`));
    socket.end();
  }, HANG_MILLISECONDS);
  return promise.finally(() => {
    clearTimeout(quiet);
    clearTimeout(hang);
  });
}

const WORDS = [
  "GET",
  "POST",
  "PUT",
  "DELETE",
  "HEAD",
  "OPTIONS",
  "PATCH",
  "TRACE",
  "CONNECT",
  "get",
  "",
  "G\0T",
  "GET GET",
  "ÿ",
];

/** One request as text of single bytes, most of it well formed, so that it gets far. */
function anyRequest({ key, service, username }: FuzzTarget): fc.Arbitrary<string> {
  const anyText = fc.oneof(
    fc.string({ unit: "binary-ascii", maxLength: 40 }),
    fc
      .string({ unit: "binary", maxLength: 20 })
      .map((text) => Buffer.from(text).toString("latin1")),
    fc.constantFrom("%00", "%2e%2e%2f", "%ff", "%", "%zz", "//", "..", "?", "#", "*", "'", '"'),
  );
  const path = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.constantFrom("services", "orders", "orders", "balance", "recharge", "recharge"),
    },
    { weight: 2, arbitrary: fc.constantFrom("orders/1", `user?username=${username}`, "orders/") },
    { weight: 1, arbitrary: anyText.map((text) => `orders/${text}`) },
    { weight: 1, arbitrary: anyText },
  );
  const target = fc.oneof(
    { weight: 20, arbitrary: path.map((text) => `/api/v1/${text}`) },
    {
      weight: 1,
      arbitrary: fc.constantFrom("/", "*", "/livez", "/readyz", "http://x/api/v1/user"),
    },
    { weight: 1, arbitrary: anyText },
  );
  const method = fc.oneof(
    { weight: 16, arbitrary: fc.constantFrom("GET", "POST", "POST") },
    { weight: 1, arbitrary: fc.constantFrom(...WORDS) },
  );
  const credentials = fc.oneof(
    { weight: 8, arbitrary: fc.constant([`x-api-key: ${key}`]) },
    { weight: 1, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: anyText.map((text) => [`x-api-key: ${text}`]) },
    { weight: 1, arbitrary: fc.constant([`x-api-key: ${key}`, "x-api-key: other"]) },
  );
  const type = fc.oneof(
    { weight: 8, arbitrary: fc.constant(["content-type: application/json"]) },
    { weight: 1, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: anyText.map((text) => [`content-type: ${text}`]) },
  );
  const header = fc.oneof(
    fc.tuple(
      fc.constantFrom("x-request-id", "accept", "cookie", "expect", "range", "upgrade"),
      anyText,
    ),
    fc.tuple(
      fc.constantFrom("idempotency-key", "x-forwarded-for", "host", "origin", "te"),
      anyText,
    ),
    fc.tuple(anyText, anyText),
  );
  const headers = fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    {
      weight: 1,
      arbitrary: fc.array(
        header.map(([name, text]) => `${name}: ${text}`),
        { maxLength: 3 },
      ),
    },
  );
  const request = fc.record({ method, target, credentials, type, headers });
  return fc
    .tuple(request, anyBody(service, username), fc.nat({ max: 29 }))
    .map(([{ method, target, credentials, type, headers }, body, framing]) => {
      const lines = ["host: localhost", "connection: close", ...credentials, ...type, ...headers];
      const [length, sent] = framed(body, framing);
      const version = framing === 19 ? "HTTP/1.0" : "HTTP/1.1";
      return `${[`${method} ${target} ${version}`, ...lines, ...length].join("\r\n")}\r\n\r\n${sent}`;
    });
}

/** Mostly the truth about the body's length; else none, less, nonsense, two lengths, or chunks, sound or not. */
function framed(body: string, framing: number): [headers: string[], sent: string] {
  const size = body.length.toString(16);
  switch (framing) {
    case 0:
      return [[], body];
    case 1:
      return [[`content-length: ${Math.floor(body.length / 2)}`], body];
    case 2:
      return [["content-length: -1"], body];
    case 3:
      return [["content-length: 1e3"], body];
    case 4:
      return [[`content-length: ${body.length}`, `content-length: ${body.length + 1}`], body];
    case 5:
      return [["transfer-encoding: chunked"], `${size}\r\n${body}\r\n0\r\n\r\n`];
    case 6:
      return [["transfer-encoding: chunked"], `zz\r\n${body}\r\n0\r\n\r\n`];
    case 7:
      return [
        ["transfer-encoding: chunked", `content-length: ${body.length}`],
        `${size}\r\n${body}\r\n0\r\n\r\n`,
      ];
    default:
      return [[`content-length: ${body.length}`], body];
  }
}

function anyBody(service: string, username: string): fc.Arbitrary<string> {
  const anyValue = fc.oneof(
    fc.jsonValue({ maxDepth: 1 }),
    fc.constantFrom<unknown>(
      service,
      username,
      "",
      null,
      Number.MAX_VALUE,
      -0,
      2 ** 53,
      "\ud800",
      "\0",
      [],
    ),
    fc.double(),
    fc.integer(),
  );
  const fields = (names: Record<string, fc.Arbitrary<unknown>>) =>
    fc.record(
      Object.fromEntries(
        Object.entries(names).map(([name, right]) => [
          name,
          fc.oneof({ weight: 6, arbitrary: right }, { weight: 1, arbitrary: anyValue }),
        ]),
      ),
    );
  const order = fields({
    service: fc.constant(service),
    link: fc.string({ minLength: 1, unit: "binary" }),
    quantity: fc.integer({ min: 1, max: 10 }),
  });
  const recharge = fields({
    username: fc.constant(username),
    amount: fc.integer({ min: 1, max: 100 }).map((cents) => cents / 100),
  });
  const json = fc.oneof(order, recharge, anyValue).map((value) => JSON.stringify(value) ?? "");
  return fc.oneof(
    { weight: 8, arbitrary: json.map((text) => Buffer.from(text).toString("latin1")) },
    { weight: 1, arbitrary: json.map((text) => text.slice(0, -1)) },
    { weight: 1, arbitrary: fc.string({ unit: "binary-ascii", maxLength: 100 }) },
    {
      weight: 1,
      arbitrary: fc
        .uint8Array({ maxLength: 60 })
        .map((bytes) => Buffer.from(bytes).toString("latin1")),
    },
    { weight: 1, arbitrary: fc.constant("[".repeat(30_000)) },
  );
}
