// Reads the TLS certificate and key from their files and checks that they belong together.

import { createPrivateKey, X509Certificate } from "node:crypto";
import { readSmallFile } from "./small-files.ts";

/** Size limit of a PEM file. A chain of a few certificates is about 10 KB. */
const PEM_LIMIT_BYTES = 1024 * 1024;

export interface TlsFiles {
  cert: string;
  key: string;
}

export interface Tls {
  /** In PEM: the certificate, then the intermediate certificates. */
  cert: string;
  /** In PEM. */
  key: string;
  /** Expiry time of the certificate. */
  validTo: Date;
}

/**
 * Thrown for an unusable certificate or key. The message is one sentence for the operator: which file, and what is
 * wrong. It never contains the key.
 */
export class TlsError extends Error {
  override name = "TlsError";
}

/** Reads and checks the certificate and key. Throws TlsError. With `timeoutMs` 0 it does not wait for pipes. */
export function readTls(files: TlsFiles, timeoutMs?: number): Tls {
  const cert = read(files.cert, "certificate", timeoutMs);
  const key = read(files.key, "private key", timeoutMs);
  const certificate = attempt(
    () => new X509Certificate(cert),
    `${files.cert} does not contain a PEM certificate`,
  );
  const privateKey = attempt(
    () => createPrivateKey(key),
    `${files.key} does not contain a PEM private key without a passphrase`,
  );
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new TlsError(`the key in ${files.key} does not match the certificate in ${files.cert}`);
  }
  return { cert, key, validTo: new Date(certificate.validTo) };
}

function read(path: string, what: string, timeoutMs?: number): string {
  try {
    return readSmallFile(path, PEM_LIMIT_BYTES, timeoutMs);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new TlsError(`the ${what} ${path} cannot be read (${code ?? message})`);
  }
}

function attempt<T>(make: () => T, wrong: string): T {
  try {
    return make();
  } catch {
    throw new TlsError(wrong);
  }
}
