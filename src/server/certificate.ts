// The TLS certificate of the listeners of API and panel: read at the start, and again on SIGHUP.

import type { Config } from "../config/settings.ts";
import { readTls, type Tls, TlsError, type TlsFiles } from "../config/tls.ts";
import type { Server } from "../http1/listen.ts";
import type { Logger } from "../monitoring/log.ts";

/** Reads the certificate; null if the API uses plain HTTP. Throws TlsError. */
export function readCertificate(config: Config): Tls | null {
  const files = tlsFiles(config);
  return files && readTls(files);
}

/** Reads the certificate again. If it is invalid, the present one stays in use. */
export function reloadCertificate(
  config: Config,
  servers: readonly (Server | null)[],
  log: Logger,
): void {
  const files = tlsFiles(config);
  if (!files) return log.info({}, "nothing to reload: no certificate is in use");
  try {
    // Does not wait for pipes, because that would block the event loop.
    const tls = readTls(files, 0);
    for (const server of servers) server?.reload(tls);
    log.info({ cert: files.cert, validTo: tls.validTo.toISOString() }, "certificate reloaded");
  } catch (error) {
    const why = error instanceof TlsError ? error.message : String(error);
    log.error({ cert: files.cert, why }, "certificate not reloaded; the old one stays in use");
  }
}

function tlsFiles({ tlsCert: cert, tlsKey: key }: Config): TlsFiles | null {
  return cert !== null && key !== null ? { cert, key } : null;
}
