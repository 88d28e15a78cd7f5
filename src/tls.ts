// The certificate and key to speak TLS with, read from their files and known to belong together.

import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";

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

/** Throws TlsError. */
export function readTls(files: TlsFiles): Tls {
  const cert = read(files.cert, "certificate");
  const key = read(files.key, "private key");
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

function read(path: string, what: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
    throw new TlsError(`the ${what} ${path} cannot be read (${code})`);
  }
}

function attempt<T>(make: () => T, wrong: string): T {
  try {
    return make();
  } catch {
    throw new TlsError(wrong);
  }
}
