// Parses a provider's reply without delaying the server. The nesting is measured before parsing, because a few
// kilobytes of nested brackets take seconds to walk. A list of services is parsed entry by entry, and other work of the
// event loop runs in between.

import { LongNumber, parseWithLongNumbers } from "../domain/values/json-numbers.ts";

/** Limit for nested lists and objects. Replies of panels have three levels. */
const DEPTH_LIMIT = 32;
/** Maximum length of one entry of a list. */
const ENTRY_LIMIT_BYTES = 64 * 1024;
/** Maximum number of entries in a list. */
export const ENTRIES_LIMIT = 100_000;
/** Limit in milliseconds for work on a list without a turn of the event loop. */
const SLICE_MS = 2;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const LIST_START = 0x5b;
const LIST_END = 0x5d;
const OBJECT_START = 0x7b;
const OBJECT_END = 0x7d;
/** The UTF-8 byte order mark, which is allowed at the beginning. */
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Thrown for bytes that are not JSON or exceed a limit. The message completes the sentence "a reply that is …". */
export class UnreadableJson extends Error {
  override name = "UnreadableJson";
}

/** Parses a reply of limited length. Throws UnreadableJson. */
export function parseReply(bytes: Uint8Array): unknown {
  const depth = createDepth();
  for (let at = 0; at < bytes.length; at += 1) depth.next(bytes[at]!);
  return parse(bytes);
}

/** Parses a list of any length. Yields to the event loop every few milliseconds. Throws UnreadableJson. */
export async function parseList(bytes: Uint8Array): Promise<unknown[]> {
  const entries: unknown[] = [];
  const depth = createDepth();
  const pause = createPause(nextTurn);
  let at = startOfList(bytes) + 1;
  let start = at;
  depth.next(LIST_START);
  for (; at < bytes.length && depth.now() > 0; at += 1) {
    const paused = (at & 0x3ff) === 0 ? pause() : null;
    if (paused) await paused;
    const byte = bytes[at]!;
    depth.next(byte);
    const isEnd = depth.now() === 0;
    if (!isEnd && !(byte === COMMA && depth.now() === 1 && !depth.isInText())) {
      if (at - start >= ENTRY_LIMIT_BYTES) throw new UnreadableJson("too long in one entry");
      continue;
    }
    const entry = bytes.subarray(start, at);
    start = at + 1;
    if (isEnd && entries.length === 0 && isBlank(entry)) continue;
    if (entries.length === ENTRIES_LIMIT) throw new UnreadableJson("too long a list");
    entries.push(parse(entry));
  }
  if (depth.now() > 0 || bytes[at - 1] !== LIST_END) throw new UnreadableJson("not JSON");
  const rest = bytes.subarray(at);
  if (rest.length > ENTRY_LIMIT_BYTES) throw new UnreadableJson("too long");
  if (!isBlank(rest)) throw new UnreadableJson("not JSON");
  return entries;
}

/** Returns the position at which a list begins, or -1 if the bytes are not a list. */
export function startOfList(bytes: Uint8Array): number {
  const hasMark = BYTE_ORDER_MARK.every((byte, place) => bytes[place] === byte);
  let at = hasMark ? BYTE_ORDER_MARK.length : 0;
  while (at < ENTRY_LIMIT_BYTES && isSpace(bytes[at])) at += 1;
  return bytes[at] === LIST_START ? at : -1;
}

/** Returns the text of a number, or of a text with a number, of any length. Returns "" for anything else. */
export function numberText(value: unknown): string {
  if (value instanceof LongNumber) return value.text;
  return typeof value === "number" || typeof value === "string" ? String(value).trim() : "";
}

/** Resolves after other work of the event loop has run. A simulation has its own. */
export type Turn = () => Promise<void>;
export const nextTurn: Turn = () => new Promise((resolve) => setImmediate(resolve));

/** Maps a long list. Other work of the event loop runs between its entries. */
export async function mapInSlices<From, To>(
  list: Iterable<From>,
  turn: Turn,
  map: (entry: From) => To,
): Promise<To[]> {
  const pause = createPause(turn);
  const mapped: To[] = [];
  for (const entry of list) {
    const paused = pause();
    if (paused) await paused;
    mapped.push(map(entry));
  }
  return mapped;
}

/** Returns a function that yields if SLICE_MS have passed since the last yield, and otherwise returns null. */
function createPause(turn: Turn): () => Promise<void> | null {
  let since = performance.now();
  return () => {
    if (performance.now() - since < SLICE_MS) return null;
    return turn().then(() => {
      since = performance.now();
    });
  };
}

/** Counts the nesting of JSON byte by byte, without brackets in texts. Throws UnreadableJson beyond the limit. */
function createDepth() {
  let depth = 0;
  let isInText = false;
  let isEscaped = false;
  return {
    next(byte: number): void {
      if (isInText) {
        if (isEscaped) isEscaped = false;
        else if (byte === BACKSLASH) isEscaped = true;
        else if (byte === QUOTE) isInText = false;
      } else if (byte === QUOTE) isInText = true;
      else if (byte === LIST_START || byte === OBJECT_START) {
        depth += 1;
        if (depth > DEPTH_LIMIT) throw new UnreadableJson("nested too deeply");
      } else if (byte === LIST_END || byte === OBJECT_END) depth -= 1;
    },
    now: () => depth,
    isInText: () => isInText,
  };
}

function parse(bytes: Uint8Array): unknown {
  try {
    return parseWithLongNumbers(utf8.decode(bytes));
  } catch {
    throw new UnreadableJson("not JSON");
  }
}

function isBlank(bytes: Uint8Array): boolean {
  return bytes.every((byte) => isSpace(byte));
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
}
