// docs/specification.md#provider-mask. Texts of a provider as they may be stored, logged or shown: without its key, without control characters, cut.
// The key is found by what the text means, not by its spelling: escaped in any way, also twice, in any case.

import { beginsEscape, createReader, type Reading } from "./escapes.ts";

const TEXT_LIMIT = 200;
const MASK = "***";
/** A shorter piece of base64 might be any word. */
const BASE64_LEAST = 8;
// oxlint-disable-next-line no-control-regex -- control characters are what it removes
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g;

/** Ways to read a needle that are followed at once: a run of backslashes has many. */
const ENDS_LIMIT = 32;

/** A text that is looked for: one character after the other, folded. */
type Needle = readonly number[];

interface Needles {
  needles: readonly Needle[];
  /** What they begin with. */
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

/** As much of the text as is shown, and a little more, with every needle masked that begins in it. */
function maskAll(text: string, { needles, first }: Needles): string {
  const read = createReader(text);
  let masked = "";
  let at = 0;
  while (at < text.length && masked.length <= TEXT_LIMIT) {
    const code = text.charCodeAt(at);
    const mayBegin = beginsEscape(code) || first.has(fold(code));
    const end = mayBegin ? Math.max(...needles.map((needle) => endOf(needle, at, read))) : -1;
    masked += end > at ? MASK : text[at];
    at = end > at ? end : at + 1;
  }
  return masked;
}

/** Where the needle that begins at a position ends, as far right as it can; -1 when there is none. */
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

/** Without regard to case, and a blank is a plus sign, as in a form. */
function fold(code: number): number {
  if (code >= 0x41 && code <= 0x5a) return code + 0x20;
  return code === 0x20 ? 0x2b : code;
}

/** What base64 of any text with the key in it has in it, for each place in a group of three that the key may begin at. */
function base64Of(key: string): string[] {
  const pieces = [0, 1, 2].map((before) => {
    const bytes = Buffer.from("\0".repeat(before) + key);
    // Characters that hold bits of what stands beside the key.
    const start = Math.ceil((before * 8) / 6);
    return bytes.toString("base64url").slice(start, Math.floor((bytes.length * 8) / 6));
  });
  const standard = pieces.map((piece) => piece.replaceAll("-", "+").replaceAll("_", "/"));
  return [...new Set([...pieces, ...standard])].filter((piece) => piece.length >= BASE64_LEAST);
}
