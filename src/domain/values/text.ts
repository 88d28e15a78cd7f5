// Text from callers, operators and providers: checks that it is well formed, and makes it safe for a terminal.

// oxlint-disable-next-line no-control-regex -- it matches control characters
const CONTROL_CHARACTER = /[\u0000-\u001f\u007f-\u009f]/;

export function hasControlCharacter(text: string): boolean {
  return CONTROL_CHARACTER.test(text);
}

const UNPRINTABLE = /[\s\p{Cc}]/u;

/** Finds white space and control characters. A URL parser drops some of them, which would hide what is requested. */
export function hasUnprintable(text: string): boolean {
  return UNPRINTABLE.test(text);
}

const IDENTIFIER = /^[A-Za-z0-9._-]{1,64}$/;
export const IDENTIFIER_FORM = "1 to 64 of letters, digits and . _ -";

/** The form of a cuid2, the id of most rows. */
export const CUID_PATTERN = "^[a-z0-9]{24}$";
const CUID = new RegExp(CUID_PATTERN);

export function isCuid(text: string): boolean {
  return CUID.test(text);
}

/** Accepts ids of services, here or at a provider, and names of providers. */
export function isIdentifier(text: string): boolean {
  return IDENTIFIER.test(text);
}

export function labelForm(limit: number): string {
  return `1 to ${limit} characters without control characters, leading or trailing spaces`;
}

/** Accepts 1 to `limit` UTF-16 units of well-formed text, without control characters or white space at its ends. */
export function isLabel(text: string, limit: number): boolean {
  const fits = text.length >= 1 && text.length <= limit && text.trim() === text;
  return fits && text.isWellFormed() && !hasControlCharacter(text);
}

/**
 * Characters that are invisible on a terminal or change the text direction: control, zero-width and other default
 * ignorable characters, bidirectional controls, lone surrogates. Excludes newlines.
 */
const HIDDEN_CLASS = String.raw`[[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u{2800}\u{FFF9}-\u{FFFB}]--\n]`;
const HIDDEN = new RegExp(HIDDEN_CLASS, "v");
/** Matches emoji first: many contain joiners and variation selectors, which must stay unchanged. */
const EMOJI_OR_HIDDEN = new RegExp(String.raw`\p{RGI_Emoji}|(${HIDDEN_CLASS})`, "gv");

/**
 * Matches text that may contain an emoji or a hidden character, so that plain ASCII is skipped quickly. A keycap emoji
 * begins with ASCII.
 */
const UNUSUAL = /[#*0-9]?[^\n\x20-\x7e]+/g;

/** Makes untrusted text safe for a terminal: replaces invisible characters by their code points, such as `<U+202E>`. */
export function showHidden(text: string): string {
  if (!HIDDEN.test(text)) return text;
  return text.replace(UNUSUAL, (part) =>
    part.replace(EMOJI_OR_HIDDEN, (found, hidden?: string) =>
      hidden === undefined ? found : `<U+${codeOf(hidden)}>`,
    ),
  );
}

function codeOf(character: string): string {
  return character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0");
}

/** Formats a count: `1 user`, `2 users`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** Makes parts of a sentence a sentence of its own: with a capital, semicolons between the parts and a full stop. */
export function sentenceFrom(parts: readonly string[]): string {
  const text = parts.join("; ");
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

/** Formats a count of wrong rows: `1 row is wrong`, `2 rows are wrong`. */
export function countedWrong(rows: number): string {
  return `${counted(rows, "row")} ${rows === 1 ? "is" : "are"} wrong`;
}
