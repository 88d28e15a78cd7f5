// What counts as text a person or a program may give us.

// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const CONTROL_CHARACTER = /[\u0000-\u001f\u007f-\u009f]/;

export function hasControlCharacter(text: string): boolean {
  return CONTROL_CHARACTER.test(text);
}

const IDENTIFIER = /^[A-Za-z0-9._-]{1,64}$/;
export const IDENTIFIER_FORM = "1 to 64 of letters, digits and . _ -";

/** The id of a service, here or at its provider, and the name of a provider. */
export function isIdentifier(text: string): boolean {
  return IDENTIFIER.test(text);
}

/** 1 to `limit` UTF-16 units of well-formed text, without control characters or white space round it. */
export function isLabel(text: string, limit: number): boolean {
  const fits = text.length >= 1 && text.length <= limit && text.trim() === text;
  return fits && text.isWellFormed() && !hasControlCharacter(text);
}

/**
 * Characters that a terminal shows as nothing, as a blank or as a change of direction: controls, zero-width and other
 * ignorable characters, bidirectional ones, lone surrogates. A newline is layout.
 */
const HIDDEN_CLASS = String.raw`[[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u{2800}\u{FFF9}-\u{FFFB}]--\n]`;
const HIDDEN = new RegExp(HIDDEN_CLASS, "v");
/** Joiners and variation selectors belong to many an emoji, which is left as it is. */
const EMOJI_OR_HIDDEN = new RegExp(String.raw`\p{RGI_Emoji}|(${HIDDEN_CLASS})`, "gv");

/** Where either may be; an emoji of a key cap begins with a plain character. The rest is most of a text, and passed by. */
const UNUSUAL = /[#*0-9]?[^\n\x20-\x7e]+/g;

/** Text of others as a person may read it: what cannot be seen is named, such as `<U+202E>`. */
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
