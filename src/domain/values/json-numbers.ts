// Parses JSON numbers with more digits than a double has. JSON.parse rounds them: 2.9999999999999999999 becomes 3.
// Whether such an amount or quantity is valid must be decided by its text.

import { rawJson } from "../ledger/money.ts";

/**
 * Matches the whole text of each number that JSON.parse may round: a long one, or one with a long exponent. It also
 * matches within strings, which only costs time.
 */
const MAY_BE_ROUNDED = /-?\d[\d.eE+-]{15,}|-?\d[\d.]{0,14}[eE][+-]?\d{3,}/;
/** Matches a string of valid JSON, so that numbers within it are skipped. */
const TEXT = /"[^"\\]*(?:\\.[^"\\]*)*"/;
const NUMBER = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/**
 * Returns whether a double has exactly the value of a JSON number. Also true for a number beyond all finite doubles.
 */
export function isExact(number: string): boolean {
  const value = Number(number);
  if (!Number.isFinite(value)) return true;
  return canonical(number) === canonical(String(value));
}

/** Returns the same text for all ways to write a number, ignoring its sign. */
function canonical(number: string): string {
  const [, whole, fraction = "", exponent = "0"] = NUMBER.exec(number)!;
  const digits = whole + fraction;
  let [start, end] = [0, digits.length];
  while (start < end && digits[start] === "0") start++;
  while (end > start && digits[end - 1] === "0") end--;
  if (start === end) return "0";
  return `${digits.slice(start, end)}e${Number(exponent) - fraction.length + digits.length - end}`;
}

export interface ExactParsing {
  /** Returns the JSON that replaces a number that is not kept. */
  replaced: (number: string) => string;
  /** Returns whether a number stays; absent: isExact. */
  isKept?: (number: string) => boolean;
  /** Matches the whole text of each number that may be replaced. Other numbers take no time; a body may have 30,000. */
  suspect?: RegExp;
}

/**
 * Parses JSON after replacing each number that JSON.parse would round. Uses no reviver, because a reviver takes seconds
 * to walk deeply nested lists.
 */
export function parseJsonExactly(
  text: string,
  { replaced, isKept = isExact, suspect = MAY_BE_ROUNDED }: ExactParsing,
): unknown {
  const value: unknown = JSON.parse(text);
  if (!suspect.test(text)) return value;
  const tokens = new RegExp(`${TEXT.source}|${suspect.source}`, "gs");
  const exact = text.replace(tokens, (token) =>
    token.startsWith('"') || isKept(token) ? token : replaced(token),
  );
  return exact === text ? value : JSON.parse(exact);
}

/** The text of a number that no double has as its value. JSON.stringify writes it unchanged. */
export class LongNumber {
  constructor(readonly text: string) {}

  toJSON(): unknown {
    return rawJson(this.text);
  }
}

/**
 * Parses JSON with a LongNumber for each number that JSON.parse would round. The text must not be nested deeply. Uses
 * no reviver, because a reviver takes 50 ms for 32,000 numbers.
 */
export function parseWithLongNumbers(text: string): unknown {
  const rounded: unknown = JSON.parse(text);
  if (!MAY_BE_ROUNDED.test(text)) return rounded;
  return withLongNumbers(rounded, parseJsonExactly(text, { replaced: JSON.stringify }));
}

/** Returns `exact` with LongNumbers: where `rounded` has a number, the text in `exact` becomes a LongNumber. */
function withLongNumbers(rounded: unknown, exact: unknown): unknown {
  if (typeof rounded === "number" && typeof exact === "string") return new LongNumber(exact);
  if (typeof rounded !== "object" || rounded === null) return exact;
  if (Array.isArray(rounded)) {
    const list = exact as unknown[];
    for (let at = 0; at < list.length; at += 1) list[at] = withLongNumbers(rounded[at], list[at]);
    return list;
  }
  const from = rounded as Record<string, unknown>;
  const into = exact as Record<string, unknown>;
  for (const name of Object.keys(from)) {
    const part = withLongNumbers(from[name], into[name]);
    if (part !== into[name]) into[name] = part;
  }
  return exact;
}
