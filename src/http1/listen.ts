// Listening: one socket, or with TLS one after the other, so that a new certificate drops no request
// that has begun; a connection that is only being opened at that moment may be reset, and is opened again.
// A reload is a second listener on the same port: from its first moment on it takes connections too, and then the
// first one lets go.

import { Connection, type Handler, type Host } from "./connection.ts";

const SECOND_MILLISECONDS = 1000;

export interface Address {
  hostname: string;
  /** 0 takes a free one. */
  port: number;
}

/** PEM. */
export interface Certificate {
  cert: string;
  key: string;
}

export interface Server {
  hostname: string;
  port: number;
  /** Speaks with this certificate from now on. Only for a server that was started with one. */
  reload(certificate: Certificate): void;
  /** Takes no further request and resolves when those in flight are answered. */
  stop(): Promise<void>;
}

/** Throws when the address cannot be listened on. */
export function listen(
  handler: Handler,
  address: Address,
  certificate: Certificate | null,
): Server {
  const { hostname } = address;
  const connections = new Set<Connection>();
  const clock = createClock(connections);
  const stopped = Promise.withResolvers<void>();
  let isStopping = false;
  const open = (port: number, tls: Certificate | null) => {
    const host: Host = { handler, isRetiring: false, now: clock.now };
    const listener = Bun.listen<Connection>({
      hostname,
      port,
      // Whoever has sent all of its request may say so and still be answered.
      allowHalfOpen: true,
      // Two servers that share a port would share its requests, silently: only a reload may.
      ...(tls ? { tls: { cert: tls.cert, key: tls.key }, reusePort: true } : {}),
      socket: {
        open(socket) {
          socket.data = new Connection(socket, host);
          connections.add(socket.data);
          clock.start();
        },
        // With this handler `open` is called before the handshake of TLS, so that its time is limited too.
        handshake() {},
        data: ({ data: connection }, bytes) => connection.receive(bytes),
        drain: ({ data: connection }) => connection.drain(),
        end: ({ data: connection }) => connection.end(),
        close({ data: connection }) {
          connection.closed();
          connections.delete(connection);
          if (connections.size === 0 && isStopping) stopped.resolve();
        },
        // Thrown by one of the above: a fault of ours, that leaves its connection in no known state.
        error(socket, error) {
          handler.fail(error);
          socket.terminate();
        },
      },
    });
    return { listener, host };
  };
  // A shared port is what a reload needs. Its kernel's rule, one user only, is ours: nobody else may have it now.
  let current = open(certificate ? freePort(address) : address.port, certificate);
  const retire = ({ listener, host }: typeof current) => {
    listener.stop();
    host.isRetiring = true;
  };
  const { port } = current.listener;
  return {
    hostname,
    port,
    reload(next) {
      const old = current;
      current = open(port, next);
      retire(old);
    },
    async stop() {
      retire(current);
      isStopping = true;
      // What has arrived by now is still read and answered.
      await new Promise(setImmediate);
      for (const connection of connections) connection.retire();
      if (connections.size > 0) await stopped.promise;
    },
  };
}

/** Counts seconds, and only while there is a connection whose time could run out. */
function createClock(connections: ReadonlySet<Connection>) {
  let seconds = 0;
  let timer: ReturnType<typeof setInterval> | undefined;
  return {
    now: () => seconds,
    start() {
      timer ??= setInterval(() => {
        seconds++;
        for (const connection of connections) connection.expire();
        if (connections.size > 0) return;
        clearInterval(timer);
        timer = undefined;
      }, SECOND_MILLISECONDS);
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
