// Turns a Response into bytes of HTTP/1.1. Text and fields that are known when the Response is made are attached to it:
// reading them from it would needlessly build Headers and, for the text, take another turn of the event loop.

import { STATUS_CODES } from "node:http";

/** The content of a response that is known when it is made. */
interface MadeText {
  /** Header lines; undefined to use the Response's Headers. */
  fields?: string;
  text: string;
  /** Whether the connection closes after the response. */
  isLast: boolean;
  /** True if nothing is sent: the connection closes instead. */
  isNothing?: true;
}

const MADE_TEXT = Symbol("made text");

interface MadeResponse extends Response {
  [MADE_TEXT]?: MadeText;
}

/** Attaches the text of its body to a response and returns the response. */
export function withText(response: Response, text: string): Response {
  (response as MadeResponse)[MADE_TEXT] = { text, isLast: false };
  return response;
}

/** Returns a response that stands for closing the connection without sending one. */
export function closingResponse(): Response {
  const response: MadeResponse = new Response();
  response[MADE_TEXT] = { text: "", isLast: true, isNothing: true };
  return response;
}

export function isNothing(response: Response): boolean {
  return (response as MadeResponse)[MADE_TEXT]?.isNothing ?? false;
}

/** Makes responses that share header fields. */
export class ResponseTemplate {
  readonly #common: string;

  constructor(readonly fields: Readonly<Record<string, string>>) {
    this.#common = formatFields(fields);
  }

  /**
   * Makes a Response that is itself empty; its text and fields are attached. `lines`: further fields, formatted already.
   */
  make(
    status: number,
    text: string,
    fields: Readonly<Record<string, string>>,
    lines = "",
  ): Response {
    const response: MadeResponse = status === 200 ? new Response() : new Response(null, { status });
    response[MADE_TEXT] = {
      fields: this.#common + formatFields(fields) + lines,
      text,
      isLast: fields["connection"] === "close",
    };
    return response;
  }
}

/** Returns the text of the body; undefined if the body is a stream. */
export function textOf(response: Response): string | undefined {
  return (response as MadeResponse)[MADE_TEXT]?.text ?? (response.body === null ? "" : undefined);
}

/** Returns whether the response has `Connection: close`. */
export function saysLast(response: Response): boolean {
  const known = (response as MadeResponse)[MADE_TEXT];
  return known ? known.isLast : response.headers.get("connection") === "close";
}

/** How the end of the body is marked: content-length (its value), chunked, or by closing the connection. */
export type Framing = number | "chunked" | "close";

export function formatHead(response: Response, framing: Framing, isLast: boolean): string {
  const { status } = response;
  const known = (response as MadeResponse)[MADE_TEXT];
  const fields = known?.fields ?? formatFields(response.headers.toJSON());
  const start = status === 200 ? OK : `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n`;
  const end = isLast ? "connection: close\r\n" : "";
  return `${start}${fields}${framed(framing)}${end}${date()}\r\n`;
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
