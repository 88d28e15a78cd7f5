// What nobody can guess.

/** Base64url of that many random bytes. */
export function random(bytes: number): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString("base64url");
}
