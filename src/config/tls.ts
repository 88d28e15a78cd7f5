// The certificate and key to speak TLS with, read from their files and known to belong together.

import { createPrivateKey, X509Certificate } from "node:crypto";
import { readSmallFile } from "./small-files.ts";

/** A chain of a few certificates is some 10 KB. */
const PEM_LIMIT_BYTES = 1024 * 1024;

export interface TlsFiles {
  cert: string;
  key: string;
}

export interface Tls {
  /** PEM: the certificate, then whatever leads to its authority. */
  cert: string;
  /** PEM. */
  key: string;
  /** When the certificate ends. */
  validTo: Date;
}

/** The message is one sentence for the operator: which file, what is wrong. Nothing of the key is in it. */
export class TlsError extends Error {
  override name = "TlsError";
}

/** Throws TlsError. With `patienceMs` 0 no pipe is waited for. */
export function readTls(files: TlsFiles, patienceMs?: number): Tls {
  const cert = read(files.cert, "certificate", patienceMs);
  const key = read(files.key, "private key", patienceMs);
  const certificate = attempt(
    () => new X509Certificate(cert),
    `${files.cert} holds no PEM certificate`,
  );
  const privateKey = attempt(
    () => createPrivateKey(key),
    `${files.key} holds no PEM private key, or one with a passphrase`,
  );
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new TlsError(`the key in ${files.key} is not that of the certificate in ${files.cert}`);
  }
  return { cert, key, validTo: new Date(certificate.validTo) };
}

function read(path: string, what: string, patienceMs?: number): string {
  try {
    return readSmallFile(path, PEM_LIMIT_BYTES, patienceMs);
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
