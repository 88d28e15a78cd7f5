// Listening. A new certificate needs a new listener: reload opens a second one on the same port (SO_REUSEPORT) and then
// closes the first, so that no request in flight is dropped. A connection still being opened at that moment may be
// reset; clients retry it.

import { Connection, type Handler, type Host } from "./connection.ts";

const SECOND_MS = 1000;

export interface Address {
  hostname: string;
  /** 0: any free port. */
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
  /** Uses this certificate for new connections. Only for a server that was started with one. */
  reload(certificate: Certificate): void;
  /** Accepts no further request; resolves once those in flight are answered. */
  stop(): Promise<void>;
}

/** Listens for a moment. Throws when the address cannot be listened on. */
export function tryAddress(address: Address): void {
  Bun.listen({ ...address, socket: { data() {} } }).stop(true);
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
      // A client that closes its sending side after its request still gets the response.
      allowHalfOpen: true,
      // Two servers on one port would silently share its connections: only a reload may do that.
      ...(tls ? { tls: { cert: tls.cert, key: tls.key }, reusePort: true } : {}),
      socket: {
        open(socket) {
          socket.data = new Connection(socket, host);
          connections.add(socket.data);
          clock.start();
        },
        // Empty, but with it Bun calls `open` before the TLS handshake, so that the handshake is under a timeout too.
        handshake() {},
        data: ({ data: connection }, bytes) => connection.receive(bytes),
        drain: ({ data: connection }) => connection.drain(),
        end: ({ data: connection }) => connection.end(),
        close({ data: connection }) {
          connection.closed();
          connections.delete(connection);
          if (connections.size === 0 && isStopping) stopped.resolve();
        },
        // One of the handlers above threw: an internal error, after which the connection's state is unknown.
        error(socket, error) {
          handler.fail(error);
          socket.terminate();
        },
      },
    });
    return { listener, host };
  };
  // SO_REUSEPORT lets any process of the same user share a port, so check first that it is free.
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
      // Requests that have already arrived are still read and answered.
      await new Promise(setImmediate);
      for (const connection of connections) connection.retire();
      if (connections.size > 0) await stopped.promise;
    },
  };
}

/** Counts seconds for the timeouts; runs only while there are connections. */
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
      }, SECOND_MS);
    },
  };
}

/** A port that no other server listens on. Throws when the given one is in use. */
function freePort({ hostname, port }: Address): number {
  const probe = Bun.listen({ hostname, port, exclusive: true, socket: { data() {} } });
  const free = probe.port;
  probe.stop(true);
  return free;
}
