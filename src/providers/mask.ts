// Makes a provider's texts safe to store, log and print: masks its key, removes control characters, cuts long texts.
// Finds the key in upper or lower case, in base64, and in any escaped form, also nested.
// docs/specification/providers.md#provider-mask.

import { beginsEscape, createReader, type Reading } from "./escapes.ts";

const TEXT_LIMIT = 200;
const MASK = "***";
/** Minimum length of a piece of base64 that is masked. A shorter one could be an ordinary word. */
const BASE64_LEAST = 8;
// oxlint-disable-next-line no-control-regex -- control characters are what it removes
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g;

/** Limit for the readings that are followed at a time. A run of backslashes has many. */
const ENDS_LIMIT = 32;

/** Limit for the positions within matches where another match may begin. Without it a text of escapes takes long. */
const OVERLAP_LIMIT = 100;

/** A text to search for: its character codes, folded. */
type Needle = readonly number[];

interface Needles {
  needles: readonly Needle[];
  /** The first character codes of the needles. */
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

/** Returns the text with every needle masked. Stops soon after TEXT_LIMIT. */
function maskAll(text: string, { needles, first }: Needles): string {
  const read = createReader(text);
  const endFrom = (at: number): number => {
    const code = text.charCodeAt(at);
    const mayBegin = beginsEscape(code) || first.has(fold(code));
    return mayBegin ? Math.max(...needles.map((needle) => findEnd(needle, at, read))) : -1;
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
    // Matches may overlap: `&amp%70%25` has the key `p%` twice, so the later end counts.
    for (let within = at + 1; within < end && overlaps > 0; within += 1) {
      end = Math.max(end, endFrom(within));
      overlaps -= 1;
    }
    masked += MASK;
    at = end;
  }
  return masked;
}

/** Returns the end of the longest match of a needle at a position, or -1. */
function findEnd(needle: Needle, at: number, read: (at: number) => readonly Reading[]): number {
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

/** Returns the code of the lower-case letter. A space becomes a plus sign, as in a form. */
function fold(code: number): number {
  if (code >= 0x41 && code <= 0x5a) return code + 0x20;
  return code === 0x20 ? 0x2b : code;
}

/**
 * Returns pieces of base64: the base64 form of any text with the key contains one of them. There is one piece for each
 * place where the key may begin in a group of three bytes.
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
