// Bytes that may follow a request on its connection while its response is awaited. The request must get the same
// response as without them, however the bytes are cut into segments.

import { expect } from "bun:test";
import { openRaw } from "./raw.ts";

/** A request that moves money, and how to see whether it did. */
export interface Write {
  path: string;
  key: string;
  /** A body that differs from all others by `mark`. */
  body(mark: string): string;
  /** How often what a body with this mark asks for was done. */
  done(mark: string): number;
}

const EMPTY = "content-length: 0\r\n\r\n";

/** Behind the last byte of a request. `answered`: requests in it that are answered as well. */
const TAILS: Record<string, { bytes: string; answered?: number }> = {
  nothing: { bytes: "" },
  "an empty line": { bytes: "\r\n" },
  "two empty lines": { bytes: "\r\n\r\n" },
  "one byte more than Content-Length": { bytes: "x" },
  "another body": { bytes: '{"a":1}' },
  "a NUL": { bytes: "\0" },
  "a TLS greeting": { bytes: "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" },
  "half a request": { bytes: "GET /livez HT" },
  "a request": { bytes: "GET /livez HTTP/1.1\r\nhost: x\r\n\r\n", answered: 1 },
  "a request that is malformed": { bytes: "GET /livez HTTP/1.1\r\nhost : x\r\n\r\n" },
  "a request of an unknown method": { bytes: `FOO / HTTP/1.1\r\nhost: x\r\n${EMPTY}`, answered: 1 },
  "a write without a key": {
    bytes: `POST /api/v1/orders HTTP/1.1\r\nhost: x\r\n${EMPTY}`,
    answered: 1,
  },
  "a protocol that is none of ours": { bytes: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" },
};

const chunked = (body: string) => `${body.length.toString(16)}\r\n${body}\r\n`;

/** A body as it is sent, with the field that says how. */
const FRAMINGS: Record<string, (body: string) => [field: string, sent: string]> = {
  "Content-Length": (body) => [`content-length: ${body.length}`, body],
  chunks: (body) => ["transfer-encoding: chunked", `${chunked(body)}0\r\n\r\n`],
  "chunks with trailers": (body) => [
    "transfer-encoding: chunked\r\ntrailer: x-a",
    `${chunked(body)}0\r\nx-a: b\r\nx-c: d\r\n\r\n`,
  ],
  "chunks with extensions": (body) => [
    "transfer-encoding: chunked",
    `${chunked(body).replace("\r\n", ';a=b;c="d"\r\n')}0;e=f\r\n\r\n`,
  ],
};

/** One way to send a request and what follows it. */
export interface Case {
  name: string;
  framing: keyof typeof FRAMINGS;
  tail: keyof typeof TAILS;
  version: "1.0" | "1.1";
  /** The client says at once that it sends nothing more. */
  ends: boolean;
}

const ALL_TAILS = Object.keys(TAILS);
const SOME_TAILS = ["nothing", "an empty line", "a request"];

export const CASES: Case[] = [
  ...ALL_TAILS.map((tail) => ({ framing: "Content-Length", tail, version: "1.1", ends: false })),
  ...ALL_TAILS.map((tail) => ({ framing: "Content-Length", tail, version: "1.1", ends: true })),
  ...ALL_TAILS.map((tail) => ({ framing: "Content-Length", tail, version: "1.0", ends: false })),
  ...Object.keys(FRAMINGS).flatMap((framing) =>
    SOME_TAILS.map((tail) => ({ framing, tail, version: "1.1", ends: false })),
  ),
].map((each) => ({
  ...(each as Omit<Case, "name">),
  name: `HTTP/${each.version}, ${each.framing}, then ${each.tail}${each.ends ? ", then the end" : ""}`,
}));

let marks = 0;

/**
 * Sends the request with what follows in the same segment, or, with `meanwhile`, in a later one: that is called when
 * the request was sent, and calls back once it is certain that its response is still awaited.
 */
export async function expectAnswered(
  url: string,
  write: Write,
  { framing, tail, version, ends }: Case,
  meanwhile?: (sendRest: () => void) => Promise<void>,
): Promise<void> {
  const mark = `mark-${marks++}-${process.pid}`;
  const [field, sent] = FRAMINGS[framing]!(write.body(mark));
  const { bytes, answered = 0 } = TAILS[tail]!;
  const head = [
    `POST ${write.path} HTTP/${version}`,
    "host: x",
    `x-api-key: ${write.key}`,
    "content-type: application/json",
    field,
  ].join("\r\n");
  const connection = await openRaw(url);
  const rest = Buffer.from(bytes, "latin1");
  const request = Buffer.from(`${head}\r\n\r\n${sent}`);
  const sendLast = (last: Buffer) => {
    connection.send(last);
    if (ends) connection.finish();
  };
  if (meanwhile) {
    connection.send(request);
    await meanwhile(() => sendLast(rest));
  } else sendLast(Buffer.concat([request, rest]));
  const first = await connection.response();
  expect([first?.status, first?.body]).toMatchObject([200, { status: "success" }]);
  // HTTP/1.0 ends with its response, and so what follows is not even looked at.
  for (let more = version === "1.0" ? 0 : answered; more > 0; more--) {
    expect(await connection.response()).toMatchObject({ status: expect.any(Number) });
  }
  connection.finish();
  const text = await connection.rest();
  if (answered === 0 || version === "1.0") expect(text).toBe("");
  connection.close();
  expect(write.done(mark)).toBe(1);
}
