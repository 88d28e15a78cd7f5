// Makes a provider's texts safe to store, log and print: masks its key, removes control characters, cuts long texts.
// The key is found in any escaped form, nested escapes included, and in any case.
// docs/specification/providers.md#provider-mask.

import { beginsEscape, createReader, type Reading } from "./escapes.ts";

const TEXT_LIMIT = 200;
const MASK = "***";
/** A shorter piece of base64 could be an ordinary word. */
const BASE64_LEAST = 8;
// oxlint-disable-next-line no-control-regex -- control characters are what it removes
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g;

/** Limit for the alternative readings that are followed at a time: a run of backslashes has many. */
const ENDS_LIMIT = 32;

/**
 * Limit for the positions inside matches where further ones are looked for: bounds the time for a text of only escapes.
 */
const OVERLAP_LIMIT = 100;

/** A text to search for: its character codes, folded. */
type Needle = readonly number[];

interface Needles {
  needles: readonly Needle[];
  /** Their first characters. */
  first: ReadonlySet<number>;
}

export type Mask = (text: string) => string;

export function createMask(key: string): Mask {
  const needles = [key, ...base64Of(key)].map((text) => text.split("").map(foldedCode));
  const first = new Set(needles.map(([code]) => code!));
  return (text) => {
    const masked = maskAll(text.replace(CONTROL, " ").trim(), { needles, first });
    return masked.length > TEXT_LIMIT ? `${masked.slice(0, TEXT_LIMIT).toWellFormed()}…` : masked;
  };
}

/** Returns the text, up to a little over TEXT_LIMIT, with every needle masked that begins in it. */
function maskAll(text: string, { needles, first }: Needles): string {
  const read = createReader(text);
  const endFrom = (at: number): number => {
    const code = text.charCodeAt(at);
    const mayBegin = beginsEscape(code) || first.has(fold(code));
    return mayBegin ? Math.max(...needles.map((needle) => endOf(needle, at, read))) : -1;
  };
  let masked = "";
  let at = 0;
  let overlaps = OVERLAP_LIMIT;
  while (at < text.length && masked.length <= TEXT_LIMIT) {
    let end = endFrom(at);
    if (end <= at) {
      masked += text[at];
      at += 1;
      continue;
    }
    // What looks like the key may end in the middle of the key itself: `&amp%70%25` has `p%` twice, one in the other.
    for (let within = at + 1; within < end && overlaps > 0; within += 1) {
      end = Math.max(end, endFrom(within));
      overlaps -= 1;
    }
    masked += MASK;
    at = end;
  }
  return masked;
}

/** The end of the longest match of a needle at a position; -1 when it does not match. */
function endOf(needle: Needle, at: number, read: (at: number) => readonly Reading[]): number {
  let ends: readonly number[] = [at];
  for (const wanted of needle) {
    const next = new Set<number>();
    for (const end of ends) {
      for (const reading of read(end)) if (fold(reading.code) === wanted) next.add(reading.end);
    }
    if (next.size === 0) return -1;
    ends = [...next].slice(0, ENDS_LIMIT);
  }
  return Math.max(...ends);
}

function foldedCode(character: string): number {
  return fold(character.charCodeAt(0));
}

/** Folds case, and a space to a plus sign, as in a form. */
function fold(code: number): number {
  if (code >= 0x41 && code <= 0x5a) return code + 0x20;
  return code === 0x20 ? 0x2b : code;
}

/**
 * The substrings that the base64 form of any text with the key contains: one for each offset in a group of three bytes.
 */
function base64Of(key: string): string[] {
  const pieces = [0, 1, 2].map((before) => {
    const bytes = Buffer.from("\0".repeat(before) + key);
    // Leaves out characters that also encode bits of the neighbouring bytes.
    const start = Math.ceil((before * 8) / 6);
    return bytes.toString("base64url").slice(start, Math.floor((bytes.length * 8) / 6));
  });
  const standard = pieces.map((piece) => piece.replaceAll("-", "+").replaceAll("_", "/"));
  return [...new Set([...pieces, ...standard])].filter((piece) => piece.length >= BASE64_LEAST);
}
