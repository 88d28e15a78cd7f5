// A Response as bytes of HTTP/1.1. Its text, where it is known, goes out with its head in one write.

import { STATUS_CODES } from "node:http";

const TEXT = Symbol("text");

/** The same response, whose body is known to be this text: reading it back would take a turn of the event loop. */
export function withText(response: Response, text: string): Response {
  return Object.assign(response, { [TEXT]: text });
}

/** Undefined: the body is a stream. */
export function textOf(response: Response): string | undefined {
  if (TEXT in response) return response[TEXT] as string;
  return response.body === null ? "" : undefined;
}

/** How the end of a body is told. */
export type Framing = number | "chunked" | "close";

/** The response's head. `isLast`: the connection ends with it. */
export function headOf({ status, headers }: Response, framing: Framing, isLast: boolean): string {
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n`;
  const fields = headers.toJSON();
  for (const name in fields) {
    const value = fields[name]!;
    // `set-cookie` alone is a list.
    if (!CONNECTION_FIELDS.has(name)) head += `${name}: ${value}\r\n`;
  }
  if (typeof framing === "number") head += `content-length: ${framing}\r\n`;
  else if (framing === "chunked") head += "transfer-encoding: chunked\r\n";
  if (isLast) head += "connection: close\r\n";
  return `${head}date: ${date()}\r\n\r\n`;
}

/** The connection's own business. */
const CONNECTION_FIELDS = new Set(["connection", "content-length", "transfer-encoding", "date"]);

let dateSecond = 0;
let dateText = "";

/** Written anew once a second. */
function date(): string {
  const second = Math.floor(Date.now() / 1000);
  if (second !== dateSecond) {
    dateSecond = second;
    dateText = new Date(second * 1000).toUTCString();
  }
  return dateText;
}

const LINE_END = Buffer.from("\r\n");
export const LAST_CHUNK = "0\r\n\r\n";

export function chunkOf(bytes: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`${bytes.byteLength.toString(16)}\r\n`), bytes, LINE_END]);
}
