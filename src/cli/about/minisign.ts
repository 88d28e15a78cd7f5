// Verifies minisign's signatures: Ed25519 over the file, or over its BLAKE2b-512, and over signature and trusted comment.
// https://jedisct1.github.io/minisign/

import { createHash, createPublicKey, verify } from "node:crypto";

/** The algorithm of a public key, and of a signature over the file itself or over its hash. */
const ALGORITHM = "Ed";
const ALGORITHM_OF_HASH = "ED";
const NAME_BYTES = 2;
const ID_BYTES = 8;
const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;
/** What precedes the 32 bytes of an Ed25519 key in the form that node:crypto reads (RFC 8410). */
const SPKI = Buffer.from("302a300506032b6570032100", "hex");
const TRUSTED_COMMENT = "trusted comment: ";

interface Signed {
  algorithm: string;
  id: Buffer;
  rest: Buffer;
}

/** Returns the trusted comment of a signature that is right; null if it is not. `key`: as minisign prints it. */
export function verifiedComment(file: Uint8Array, signature: string, key: string): string | null {
  const [, first = "", comment = "", second = ""] = signature.split(/\r?\n/);
  const publicKey = read(key, KEY_BYTES);
  const signed = read(first, SIGNATURE_BYTES);
  const global = bytesOf(second);
  if (!publicKey || !signed || global.length !== SIGNATURE_BYTES) return null;
  if (publicKey.algorithm !== ALGORITHM || !publicKey.id.equals(signed.id)) return null;
  if (!comment.startsWith(TRUSTED_COMMENT)) return null;
  const isHashed = signed.algorithm === ALGORITHM_OF_HASH;
  if (!isHashed && signed.algorithm !== ALGORITHM) return null;
  const message = isHashed ? createHash("blake2b512").update(file).digest() : file;
  const said = comment.slice(TRUSTED_COMMENT.length);
  const isRight =
    isSignedBy(publicKey.rest, message, signed.rest) &&
    isSignedBy(publicKey.rest, Buffer.concat([signed.rest, Buffer.from(said)]), global);
  return isRight ? said : null;
}

/** Returns whether a text is a public key of minisign. */
export function isPublicKey(text: string): boolean {
  return read(text, KEY_BYTES)?.algorithm === ALGORITHM;
}

function read(text: string, length: number): Signed | null {
  const bytes = bytesOf(text);
  if (bytes.length !== NAME_BYTES + ID_BYTES + length) return null;
  return {
    algorithm: bytes.toString("latin1", 0, NAME_BYTES),
    id: bytes.subarray(NAME_BYTES, NAME_BYTES + ID_BYTES),
    rest: bytes.subarray(NAME_BYTES + ID_BYTES),
  };
}

/** Returns the bytes of base64; none for other text. */
function bytesOf(text: string): Buffer {
  const bytes = Buffer.from(text, "base64");
  return bytes.toString("base64") === text ? bytes : Buffer.alloc(0);
}

function isSignedBy(key: Buffer, message: Uint8Array, signature: Buffer): boolean {
  const spki = { key: Buffer.concat([SPKI, key]), format: "der", type: "spki" } as const;
  return verify(null, message, createPublicKey(spki), signature);
}
