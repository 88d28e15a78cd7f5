// Random text that cannot be guessed.

/** Returns that many random bytes as base64url. */
export function random(bytes: number): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString("base64url");
}
