// The second factor: time-based one-time passwords (RFC 6238: SHA-1, 30 s, 6 digits, which every authenticator
// supports) and recovery codes.

const STEP_MS = 30_000;
const DIGITS = 6;
/** Number of steps before and after the present one whose codes are accepted, because clocks differ. */
const DRIFT_STEPS = 1;
const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

export const SECRET_BYTES = 20;
export const RECOVERY_CODES = 10;
/** Random bytes of a recovery code: 80 bits. */
export const RECOVERY_BYTES = 10;

/** Encodes in base32 (RFC 4648) without padding, as authenticators expect it. */
export function base32(bytes: Uint8Array): string {
  let text = "";
  let [value, bits] = [0, 0];
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xfff;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += BASE32[(value >>> bits) & 31];
    }
  }
  return bits > 0 ? text + BASE32[(value << (5 - bits)) & 31] : text;
}

function bytesOf(text: string): Uint8Array {
  const bytes: number[] = [];
  let [value, bits] = [0, 0];
  for (const letter of text) {
    value = ((value << 5) | BASE32.indexOf(letter)) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((value >>> bits) & 255);
  }
  return new Uint8Array(bytes);
}

export function stepAt(now: number): number {
  return Math.floor(now / STEP_MS);
}

/** Returns the code of a step (RFC 4226). */
export function codeOf(secret: string, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const hash = new Bun.CryptoHasher("sha1", bytesOf(secret)).update(counter).digest();
  const offset = hash[19]! & 15;
  const number = hash.readUInt32BE(offset) & 0x7fff_ffff;
  return String(number % 10 ** DIGITS).padStart(DIGITS, "0");
}

/** Returns the step of a code; null if it is wrong or its step is not after `last`, the step of the last used code. */
export function stepOfCode(secret: string, code: string, now: number, last: number): number | null {
  const present = stepAt(now);
  for (let step = present - DRIFT_STEPS; step <= present + DRIFT_STEPS; step++) {
    if (step > last && codeOf(secret, step) === code) return step;
  }
  return null;
}

/** Returns the otpauth link of a secret, for authenticators and as the content of the QR code. */
export function authenticatorLink(secret: string, name: string, issuer = "reseller"): string {
  const [by, who] = [encodeURIComponent(issuer), encodeURIComponent(name)];
  return `otpauth://totp/${by}:${who}?secret=${secret}&issuer=${by}`;
}

/** Formats a recovery code, such as `abcd-efgh-ijkl-mnop`. */
export function recoveryCode(bytes: Uint8Array): string {
  return base32(bytes).toLowerCase().match(/.{4}/g)!.join("-");
}

/** Returns the SHA-256 of a recovery code, ignoring case and anything between the letters. */
export function hashRecoveryCode(code: string): string {
  return Bun.SHA256.hash(code.toLowerCase().replace(/[^a-z2-7]/g, ""), "hex");
}
