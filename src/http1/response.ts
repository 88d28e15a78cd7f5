// Turns a response into bytes of HTTP/1.1. Most are a TextResponse, whose text and fields are known. For a Response,
// code that knows its text attaches it, because reading the text would take another turn of the event loop.

import { STATUS_CODES } from "node:http";

/** A response whose text and fields are known when it is made: lighter than a Response. */
export class TextResponse {
  constructor(
    readonly status: number,
    /** Header lines. */
    readonly fields: string,
    readonly text: string,
    /** Whether the connection closes after the response. */
    readonly isLast: boolean,
  ) {}
}

/** Stands for closing the connection without sending a response. */
export const NO_RESPONSE = new TextResponse(0, "", "", true);

export type AnyResponse = Response | TextResponse;

const TEXT = Symbol("text");

interface ResponseWithText extends Response {
  [TEXT]?: string;
}

/** Attaches the text of its body to a response and returns the response. */
export function withText(response: Response, text: string): Response {
  (response as ResponseWithText)[TEXT] = text;
  return response;
}

/** Makes responses that share header fields. */
export class ResponseTemplate {
  readonly #common: string;

  constructor(readonly fields: Readonly<Record<string, string>>) {
    this.#common = formatFields(fields);
  }

  /** `lines`: further fields, formatted already. */
  make(
    status: number,
    text: string,
    fields: Readonly<Record<string, string>>,
    lines = "",
  ): TextResponse {
    const all = this.#common + formatFields(fields) + lines;
    return new TextResponse(status, all, text, fields["connection"] === "close");
  }
}

/** Returns the text of the body; undefined if the body is a stream. */
export function textOf(response: AnyResponse): string | undefined {
  if (response instanceof TextResponse) return response.text;
  return (response as ResponseWithText)[TEXT] ?? (response.body === null ? "" : undefined);
}

/** Ends a body that is not sent, which frees what its stream holds. */
export function discard(response: AnyResponse): void {
  if (!(response instanceof TextResponse) && textOf(response) === undefined) {
    void response.body?.cancel();
  }
}

/** Returns whether the response has `Connection: close`. */
export function saysLast(response: AnyResponse): boolean {
  if (response instanceof TextResponse) return response.isLast;
  return response.headers.get("connection") === "close";
}

/** How the end of the body is marked: content-length (its value), chunked, or by closing the connection. */
export type Framing = number | "chunked" | "close";

export function formatHead(response: AnyResponse, framing: Framing, isLast: boolean): string {
  const { status } = response;
  const isText = response instanceof TextResponse;
  const fields = isText ? response.fields : formatFields(response.headers.toJSON());
  const start = status === 200 ? OK : `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n`;
  const end = isLast ? "connection: close\r\n" : "";
  // A 304 has no body. A content-length in it would be understood as the length of the body of the 200.
  const length = status === 304 ? "" : framed(framing);
  return `${start}${fields}${length}${end}${date()}\r\n`;
}

const OK = "HTTP/1.1 200 OK\r\n";

function framed(framing: Framing): string {
  if (typeof framing === "number") return `content-length: ${framing}\r\n`;
  return framing === "chunked" ? "transfer-encoding: chunked\r\n" : "";
}

function formatFields(fields: Readonly<Record<string, string | string[]>>): string {
  let lines = "";
  for (const name in fields) {
    if (CONNECTION_FIELDS.has(name)) continue;
    const value = fields[name]!;
    // An array holds several cookies, the only field that must not be joined.
    if (typeof value === "string") lines += `${name}: ${value}\r\n`;
    else for (const each of value) lines += `${name}: ${each}\r\n`;
  }
  return lines;
}

/** Fields that the connection sets, never a response. */
const CONNECTION_FIELDS = new Set(["connection", "content-length", "transfer-encoding", "date"]);

let dateSecond = 0;
let dateLine = "";

/** Returns the line of the Date field, formatted once a second. */
function date(): string {
  const second = Math.floor(Date.now() / 1000);
  if (second !== dateSecond) {
    dateSecond = second;
    dateLine = `date: ${new Date(second * 1000).toUTCString()}\r\n`;
  }
  return dateLine;
}

const LINE_END = Buffer.from("\r\n");
export const LAST_CHUNK = "0\r\n\r\n";

export function formatChunk(bytes: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`${bytes.byteLength.toString(16)}\r\n`), bytes, LINE_END]);
}
