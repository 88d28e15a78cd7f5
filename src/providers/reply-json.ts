// Parses a provider's reply without holding up the server. A reply is measured before it is parsed, because a few
// kilobytes of nested brackets take seconds to walk. A list of services is parsed entry by entry, with turns of the
// event loop between.

import { LongNumber, parseWithLongNumbers } from "../domain/values/json-numbers.ts";

/** Limit for nested lists and objects. Replies of panels have three levels. */
const DEPTH_LIMIT = 32;
/** Maximum length of one entry of a list. */
const ENTRY_LIMIT_BYTES = 64 * 1024;
/** Maximum number of entries in a list. */
export const ENTRIES_LIMIT = 100_000;
/** How long work on a list may keep the event loop from its other work. */
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

/** Thrown for bytes that are not JSON, or exceed a limit. The operator reads the message after "a reply that is". */
export class UnreadableJson extends Error {
  override name = "UnreadableJson";
}

/** Parses a reply of limited length. Throws UnreadableJson. */
export function parseReply(bytes: Uint8Array): unknown {
  const depth = createDepth();
  for (let at = 0; at < bytes.length; at += 1) depth.next(bytes[at]!);
  return parse(bytes);
}

/** Parses a list of any length: yields to the event loop every few milliseconds. Throws UnreadableJson. */
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

/** The position at which a list begins; -1 if the bytes are not a list. */
export function startOfList(bytes: Uint8Array): number {
  const hasMark = BYTE_ORDER_MARK.every((byte, place) => bytes[place] === byte);
  let at = hasMark ? BYTE_ORDER_MARK.length : 0;
  while (at < ENTRY_LIMIT_BYTES && isSpace(bytes[at])) at += 1;
  return bytes[at] === LIST_START ? at : -1;
}

/** Returns the text of a number, given as a number of any length or as text; empty for anything else. */
export function numberText(value: unknown): string {
  if (value instanceof LongNumber) return value.text;
  return typeof value === "number" || typeof value === "string" ? String(value).trim() : "";
}
/** Resolves after other work of the event loop had its turn. A simulation has turns of its own. */
export type Turn = () => Promise<void>;
export const nextTurn: Turn = () => new Promise((resolve) => setImmediate(resolve));

/** Maps a long list, with turns of the event loop between its entries. */
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

/** Yields once SLICE_MS have passed since it last did. */
function createPause(turn: Turn): () => Promise<void> | null {
  let since = performance.now();
  return () => {
    if (performance.now() - since < SLICE_MS) return null;
    return turn().then(() => {
      since = performance.now();
    });
  };
}

/** Follows the nesting of JSON byte by byte; throws UnreadableJson beyond the limit. Brackets in texts do not count. */
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
