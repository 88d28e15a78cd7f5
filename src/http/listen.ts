// Listening: one socket, or with TLS one after the other, so that a new certificate drops no request
// that has begun; a connection that is only being opened at that moment may be reset, and is opened again.
// Bun's server takes a certificate once and for all, so a reload is a second listener on the same port:
// from its first moment on it takes connections too, and then the first one lets go.

import type { Elysia } from "elysia";
import type { Tls } from "../tls.ts";

/**
 * Seconds after which a connection on which nothing moves is closed. A head that is not there after some ten
 * seconds, and a body that comes in drops, end a connection too: Bun counts neither as movement.
 */
const IDLE_TIMEOUT_SECONDS = 30;

export interface Address {
  hostname: string;
  /** 0 takes a free one. */
  port: number;
}

export interface Server {
  hostname: string;
  port: number;
  /** Speaks with this certificate from now on. Only for a server that was started with one. */
  reload(tls: Tls): void;
  /** Takes no further request and resolves when those in flight are answered. */
  stop(): Promise<void>;
}

/** As much of an app as listening needs, whatever its routes are. */
interface App {
  listen(options: Parameters<Elysia["listen"]>[0]): unknown;
  server: Elysia["server"];
}

/** Throws when the address cannot be listened on. `createApp` makes one app for each listener. */
export function listen(createApp: () => App, address: Address, tls: Tls | null): Server {
  const { hostname } = address;
  // A shared port is what a reload needs. Its kernel's rule, one user only, is ours: nobody else may have it now.
  const port = tls ? freePort(address) : address.port;
  const open = (shared: boolean, port: number, certificate: Tls | null) => {
    const app = createApp();
    app.listen({
      hostname,
      port,
      // Two servers that share a port would share its requests, silently.
      reusePort: shared,
      idleTimeout: IDLE_TIMEOUT_SECONDS,
      // Bodies are cut by readFields: here a longer one would get an answer without the envelope.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      ...(certificate ? { tls: { cert: certificate.cert, key: certificate.key } } : {}),
    });
    return app.server!;
  };
  let current = open(tls !== null, port, tls);
  const stopping = new Set<Promise<void>>();
  const retire = (server: typeof current) => {
    const stopped = server.stop().finally(() => stopping.delete(stopped));
    stopping.add(stopped);
  };
  return {
    hostname,
    port: current.port!,
    reload(certificate) {
      const next = open(true, current.port!, certificate);
      retire(current);
      current = next;
    },
    async stop() {
      retire(current);
      await Promise.all(stopping);
    },
  };
}

/** A port that no other server listens on. Throws when the one that is wanted is taken. */
function freePort({ hostname, port }: Address): number {
  const probe = Bun.listen({ hostname, port, exclusive: true, socket: { data() {} } });
  const free = probe.port;
  probe.stop(true);
  return free;
}
