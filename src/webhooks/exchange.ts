// Makes one HTTP/1.1 request on a connection of its own. Counts every received byte and reads nothing beyond the limit.
// This is why fetch is not used: it reads interim responses, chunk extensions and trailers without limit.

import { closeSync, openSync } from "node:fs";
import { isIP, type Socket, connect as connectPlain } from "node:net";
import { connect as connectTls } from "node:tls";
import { errorCode } from "../domain/values/error-table.ts";
import { nameOf, refuseClosed } from "./targets.ts";

export interface ExchangeRequest {
  /** Gives the port, the path, and the name for the Host header, the handshake and the certificate. */
  url: URL;
  /** The address to connect to. If absent, the URL's name is resolved. */
  address?: string;
  headers: Record<string, string>;
  body: Uint8Array;
  /** Certificates (PEM) to trust instead of the system's. */
  ca?: string;
  /** Limit for the bytes of the reply that are read, including its head and everything around its body. */
  limitBytes: number;
}

export interface ExchangeReply {
  status: number;
  /** By lower-case name; the first value of a repeated header. */
  headers: ReadonlyMap<string, string>;
  /** The part that was read: a body that breaks, hangs or is too long is cut. */
  body: Uint8Array;
}

/** Thrown for a reply that is not HTTP, or whose head is longer than the limit. */
class NotHttp extends Error {
  override name = "NotHttp";
}

const STATUS_LINE = /^HTTP\/1\.[01] ([1-9]\d\d)(?: |$)/;
const SIZE = /^([0-9a-f]{1,8})[ \t]*(?:;|$)/i;
const LENGTH = /^\d{1,15}$/;
const WITHOUT_BODY = new Set([204, 304]);

/** Sends the request. Rejects if the connection ends or `stop` is aborted before the head of a reply has arrived. */
export async function exchange(
  request: ExchangeRequest,
  stop: AbortSignal,
): Promise<ExchangeReply> {
  refuseClosed();
  const input = createInput(request.limitBytes);
  const reading = readReply(input);
  return new Promise((resolve, reject) => {
    const socket = open(request);
    const finish = (error: Error) => {
      stop.removeEventListener("abort", abort);
      socket.destroy();
      const { head } = input;
      if (head === null) reject(error);
      else resolve({ ...head, body: Buffer.concat(input.body) });
    };
    const abort = () => finish(new Error("aborted"));
    const advance = () => {
      try {
        if (reading.next().done === true || input.isFull())
          finish(new NotHttp("its head is too long"));
      } catch (error) {
        finish(error as Error);
      }
    };
    socket.on("error", (error) => finish(shortage(error) ?? error));
    socket.on("data", (chunk: Buffer) => {
      input.push(chunk);
      advance();
    });
    socket.on("close", () => {
      input.end();
      advance();
      finish(new NotHttp("the connection ended"));
    });
    stop.addEventListener("abort", abort);
    if (stop.aborted) abort();
    socket.on(request.url.protocol === "https:" ? "secureConnect" : "connect", () =>
      socket.write(Buffer.concat([Buffer.from(formatHead(request)), request.body])),
    );
  });
}

/**
 * Returns the error that shows a lack of file descriptors, which Bun reports as ECONNREFUSED. Opens a file to find it;
 * returns null if the file opens.
 */
function shortage(error: Error): Error | null {
  if (errorCode(error) !== "ECONNREFUSED") return null;
  try {
    closeSync(openSync("/dev/null", "r"));
    return null;
  } catch (found) {
    return found as Error;
  }
}

function open({ url, address, ca }: ExchangeRequest): Socket {
  const isTls = url.protocol === "https:";
  const name = nameOf(url);
  const port = url.port === "" ? (isTls ? 443 : 80) : Number(url.port);
  const host = address ?? name;
  if (!isTls) return connectPlain({ host, port });
  return connectTls({
    host,
    port,
    rejectUnauthorized: true,
    ALPNProtocols: ["http/1.1"],
    // The handshake takes only a name, not an address; the certificate is checked against the address.
    ...(isIP(name) === 0 && { servername: name }),
    ...(ca !== undefined && { ca }),
  });
}

function formatHead({ url, headers, body }: ExchangeRequest): string {
  const fields = {
    host: url.host,
    ...headers,
    "content-length": String(body.length),
    connection: "close",
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${url.pathname}${url.search} HTTP/1.1\r\n${lines.join("")}\r\n`;
}

/** The bytes that have arrived, up to the limit, and what was read from them. */
function createInput(limitBytes: number) {
  const bytes = Buffer.alloc(limitBytes);
  let length = 0;
  let at = 0;
  let hasEnded = false;
  const input = {
    head: null as Omit<ExchangeReply, "body"> | null,
    body: [] as Uint8Array[],
    push(chunk: Buffer) {
      length += chunk.copy(bytes, length);
    },
    end() {
      hasEnded = true;
    },
    hasEnded: () => hasEnded,
    isFull: () => length === limitBytes,
    /** Returns a line without its end; null while the whole line has not arrived. */
    line(): string | null {
      const end = bytes.subarray(0, length).indexOf("\n", at);
      if (end < 0) return null;
      const text = bytes.toString("latin1", at, end).replace(/\r$/, "");
      at = end + 1;
      return text;
    },
    /** Returns at most `count` of the bytes that have arrived. */
    take(count: number): Uint8Array {
      const taken = Buffer.from(bytes.subarray(at, Math.min(length, at + count)));
      at += taken.length;
      return taken;
    },
  };
  return input;
}

type Input = ReturnType<typeof createInput>;

/** Reads the reply into `input`. Yields whenever it needs more bytes. Throws NotHttp. */
function* readReply(input: Input): Generator<void, void> {
  do input.head = yield* readHead(input);
  while (input.head.status < 200 && input.head.status !== 101);
  const { status, headers } = input.head;
  const encoding = headers.get("transfer-encoding");
  const length = headers.get("content-length") ?? "";
  if (WITHOUT_BODY.has(status)) return;
  if (encoding !== undefined) yield* readChunks(input);
  else yield* readBody(input, LENGTH.test(length) ? Number(length) : Number.POSITIVE_INFINITY);
}

function* readHead(input: Input): Generator<void, Omit<ExchangeReply, "body">> {
  // Forgets the head of an interim response: it is not the reply.
  input.head = null;
  const [, status] = STATUS_LINE.exec(yield* readLine(input)) ?? [];
  if (status === undefined) throw new NotHttp("no status line");
  const headers = new Map<string, string>();
  for (let line = yield* readLine(input); line !== ""; line = yield* readLine(input)) {
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(colon, 0)).toLowerCase();
    if (!headers.has(name)) headers.set(name, line.slice(colon + 1).trim());
  }
  return { status: Number(status), headers };
}

function* readLine(input: Input): Generator<void, string> {
  for (;;) {
    const line = input.line();
    if (line !== null) return line;
    if (input.hasEnded()) throw new NotHttp("the connection ended");
    yield;
  }
}

function* readChunks(input: Input): Generator<void, void> {
  for (;;) {
    const [, size] = SIZE.exec(yield* readLine(input)) ?? [];
    if (size === undefined) return;
    const length = Number.parseInt(size, 16);
    // Trailers are not used.
    if (length === 0) return;
    yield* readBody(input, length);
    yield* readLine(input);
  }
}

function* readBody(input: Input, length: number): Generator<void, void> {
  for (let left = length; left > 0;) {
    const taken = input.take(left);
    if (taken.length > 0) input.body.push(taken);
    left -= taken.length;
    if (left === 0 || input.hasEnded()) return;
    yield;
  }
}
