// Keys of other panels: which are accepted. They have no checksum, and are found by their hash like our own.
// docs/specification/imports.md#imported-keys.

/** Limits for the length of a key that is imported. */
export const IMPORTED_KEY_LEAST = 20;
export const IMPORTED_KEY_MOST = 128;
/** The least entropy of an imported key, in bits, as its own characters show it: 16 hexadecimal digits have about 50. */
export const IMPORTED_KEY_BITS = 64;
/**
 * Number of characters that are stored to recognise an imported key. Fewer are stored than of our own keys, because
 * those are longer.
 */
const START_LENGTH = 4;

const KEY = /^[\x21-\x7e]+$/;
const OWN_PREFIX = "rk_";
/** Matches what password hashes look like: bcrypt, argon2 and others of the same form. */
const HASH = /^\$[0-9a-z]{1,10}\$/;

/** Returns why a text cannot be imported as a key; null if it can. The reason never contains the text. */
export function importedKeyProblem(text: string): string | null {
  if (text.startsWith(OWN_PREFIX)) return "it looks like a key of this program: make it a new one";
  if (HASH.test(text))
    return "it is a hash, and the key behind it is not known: make the user a new key";
  if (!KEY.test(text)) return "it must be visible ASCII characters only: make the user a new key";
  if (text.length < IMPORTED_KEY_LEAST || text.length > IMPORTED_KEY_MOST) {
    return `it must have ${IMPORTED_KEY_LEAST} to ${IMPORTED_KEY_MOST} characters: make the user a new key`;
  }
  return entropyOf(text) < IMPORTED_KEY_BITS
    ? "it is easy to guess: make the user a new key"
    : null;
}

/** Returns the characters that are stored to recognise an imported key. */
export function startOfImportedKey(text: string): string {
  return text.slice(0, START_LENGTH);
}

/**
 * Returns the entropy of a text in bits, by the frequency of its characters. A repeated part is counted once:
 * `abcabcabc` as `abc`. A run counts as its first two characters: `0123456789` as `01`.
 */
export function entropyOf(text: string): number {
  const characters = withoutRuns(periodOf(text));
  const counts = new Map<string, number>();
  for (const character of characters) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= count * Math.log2(count / characters.length);
  return bits;
}

/** Returns the shortest beginning of which the text is a repetition. */
function periodOf(text: string): string {
  const period = (text + text).indexOf(text, 1);
  return text.slice(0, period);
}

/**
 * Leaves out all but the first two characters of each run. In a run every character code differs from the one before by
 * the same step: 0, 1 or -1.
 */
function withoutRuns(text: string): string[] {
  const characters = text.split("");
  const codes = characters.map((character) => character.charCodeAt(0));
  return characters.filter((_, index) => {
    if (index < 2) return true;
    const step = codes[index]! - codes[index - 1]!;
    return Math.abs(step) > 1 || step !== codes[index - 1]! - codes[index - 2]!;
  });
}
