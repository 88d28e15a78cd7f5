// Ids in cuid2's form: a letter, then 23 of a–z and 0–9. All of it is the system's randomness (123 bits), which is
// what cuid2 distils from weaker sources with a hash in JavaScript: there an id takes 15 µs, a third of the writer's
// time for an order, here 0.3.

const LENGTH = 24;
const LETTERS = "abcdefghijklmnopqrstuvwxyz";
const CHARACTERS = `${LETTERS}0123456789`;
/** Random bytes fetched at a time. */
const POOL_BYTES = 4096;

const pool = new Uint8Array(POOL_BYTES);
let used = POOL_BYTES;

export function createId(): string {
  let id = pick(LETTERS);
  while (id.length < LENGTH) id += pick(CHARACTERS);
  return id;
}

/** Each character is as likely as any other: bytes that would favour some are thrown away. */
function pick(characters: string): string {
  const fair = 256 - (256 % characters.length);
  for (;;) {
    if (used === POOL_BYTES) {
      crypto.getRandomValues(pool);
      used = 0;
    }
    const byte = pool[used++]!;
    if (byte < fair) return characters[byte % characters.length]!;
  }
}
