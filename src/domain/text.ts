// What counts as text a person or a program may give us.

// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const CONTROL_CHARACTER = /[\u0000-\u001f\u007f-\u009f]/;

export function hasControlCharacter(text: string): boolean {
  return CONTROL_CHARACTER.test(text);
}

/** 1 to `limit` UTF-16 units of well-formed text, without control characters or white space round it. */
export function isLabel(text: string, limit: number): boolean {
  const fits = text.length >= 1 && text.length <= limit && text.trim() === text;
  return fits && text.isWellFormed() && !hasControlCharacter(text);
}
