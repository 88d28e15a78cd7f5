// Certificates to test with, made by openssl.

import { join } from "node:path";

export interface CertificateFiles {
  cert: string;
  key: string;
}

/** A certificate for `name` and 127.0.0.1, or for `names`, as two PEM files in the folder. Signed by `ca`, or by itself. */
export function makeCertificate(
  folder: string,
  name: string,
  days = 30,
  ca?: CertificateFiles,
  names = "IP:127.0.0.1",
): CertificateFiles {
  const files = { cert: join(folder, `${name}.crt`), key: join(folder, `${name}.key`) };
  const request = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes";
  const subject = `-days ${days} -subj /CN=${name} -addext subjectAltName=${names}`;
  const { exitCode, stderr } = Bun.spawnSync([
    ...`${request} ${subject}`.split(" "),
    "-keyout",
    files.key,
    "-out",
    files.cert,
    ...(ca ? ["-CA", ca.cert, "-CAkey", ca.key] : []),
  ]);
  if (exitCode !== 0) throw new Error(stderr.toString());
  return files;
}
