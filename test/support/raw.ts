// HTTP as bytes on a socket: what `fetch` would put right before it is sent.

import type { Answer } from "./service.ts";

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
