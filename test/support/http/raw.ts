// HTTP as bytes on a socket: what `fetch` would put right before it is sent.

import { connect as connectTcp } from "node:net";
import { connect as connectTls } from "node:tls";
import type { Answer } from "./api.ts";

/** Sends the bytes as they are and reads one answer, until the server closes; the request must ask for that. */
export async function sendRaw(url: string, request: string | Uint8Array): Promise<Answer> {
  return parseAnswer(await exchangeRaw(url, request));
}

/** The same for a request whose rest is sent once `meanwhile` is over. */
export async function sendRawInTwo(
  url: string,
  first: string,
  rest: string,
  meanwhile: () => Promise<unknown>,
): Promise<Answer> {
  return parseAnswer(
    await exchangeRaw(url, first, async (sendMore) => {
      await meanwhile();
      sendMore(rest);
    }),
  );
}

/** All that the server sends until it closes. `meanwhile` may send more. */
export async function exchangeRaw(
  url: string,
  request: string | Uint8Array,
  meanwhile?: (sendMore: (text: string) => void) => Promise<void>,
): Promise<string> {
  const { hostname, port } = new URL(url);
  const received: Buffer[] = [];
  const ended = Promise.withResolvers<void>();
  const unsent = { bytes: Buffer.from(request) };
  const push = (socket: { write(data: Uint8Array): number }) => {
    while (unsent.bytes.length > 0) {
      const written = socket.write(unsent.bytes);
      if (written <= 0) return;
      unsent.bytes = unsent.bytes.subarray(written);
    }
  };
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      open: push,
      drain: push,
      data: (_, chunk) => void received.push(Buffer.from(chunk)),
      close: () => ended.resolve(),
      error: (_, error) => ended.reject(error),
    },
  });
  await meanwhile?.((text) => {
    unsent.bytes = Buffer.concat([unsent.bytes, Buffer.from(text)]);
    push(socket);
  });
  await ended.promise;
  return Buffer.concat(received).toString();
}

/** A request head that asks the server to close, and a body. `headers` are sent to the letter. */
export function rawRequest(
  method: string,
  target: string,
  headers: readonly string[] = [],
  body = "",
): string {
  const head = [`${method} ${target} HTTP/1.1`, "host: localhost", "connection: close", ...headers];
  return `${head.join("\r\n")}\r\n\r\n${body}`;
}

/** A connection on which requests are sent as they are, and responses read one after the other. */
export interface RawConnection {
  send(bytes: string | Uint8Array): void;
  /** Says that nothing more is sent. */
  finish(): void;
  /** The next response; null when the connection ends before it is whole. An interim response is one too. */
  response(isHead?: boolean): Promise<Answer | null>;
  /** All that came and was not read, once the server has ended the connection. */
  rest(): Promise<string>;
  close(): void;
}

/** Over TLS for a URL of https, whatever the certificate. */
export async function openRaw(url: string): Promise<RawConnection> {
  const { hostname: host, port, protocol } = new URL(url);
  const to = { host, port: Number(port), allowHalfOpen: true, noDelay: true };
  const socket =
    protocol === "https:" ? connectTls({ ...to, rejectUnauthorized: false }) : connectTcp(to);
  let received = Buffer.alloc(0);
  let hasEnded = false;
  let wake = () => {};
  const end = () => {
    hasEnded = true;
    wake();
  };
  socket.on("data", (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    wake();
  });
  socket.on("end", end);
  socket.on("close", end);
  socket.on("error", () => {});
  const more = () => new Promise<void>((resolve) => (wake = resolve));
  await new Promise<void>((resolve) => {
    socket.once(protocol === "https:" ? "secureConnect" : "connect", () => resolve());
    // A server may close before this side is told that it is connected.
    socket.once("close", () => resolve());
  });
  return {
    send: (bytes) => void socket.write(bytes),
    finish: () => void socket.end(),
    async response(isHead = false) {
      for (;;) {
        const text = received.toString("latin1");
        const head = text.indexOf("\r\n\r\n") + 4;
        const length = isHead ? 0 : Number(/^content-length: (\d+)\r$/im.exec(text)?.[1] ?? 0);
        if (head >= 4 && received.length >= head + length) {
          const answer = received.subarray(0, head + length);
          received = received.subarray(head + length);
          return parseAnswer(answer.toString());
        }
        if (hasEnded) return null;
        await more();
      }
    },
    async rest() {
      while (!hasEnded) await more();
      return received.toString("latin1");
    },
    close: () => void socket.destroy(),
  };
}

function parseAnswer(text: string): Answer {
  const end = text.indexOf("\r\n\r\n");
  const [statusLine, ...lines] = text.slice(0, end).split("\r\n");
  const headers = new Headers(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    }),
  );
  const body = text.slice(end + 4);
  return {
    status: Number(statusLine?.split(" ")[1]),
    headers,
    text: body,
    body: body === "" ? null : JSON.parse(body),
  };
}
