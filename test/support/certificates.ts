// Certificates to test with, made by openssl.

import { join } from "node:path";

/** A self-signed certificate for `name`, as two PEM files in the folder. */
export function makeCertificate(folder: string, name: string, days = 30) {
  const files = { cert: join(folder, `${name}.crt`), key: join(folder, `${name}.key`) };
  const request = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes";
  const subject = `-days ${days} -subj /CN=${name} -addext subjectAltName=IP:127.0.0.1`;
  const { exitCode, stderr } = Bun.spawnSync([
    ...`${request} ${subject}`.split(" "),
    "-keyout",
    files.key,
    "-out",
    files.cert,
  ]);
  if (exitCode !== 0) throw new Error(stderr.toString());
  return files;
}
