// Listens for connections. The listener stays the same while the server runs: a new certificate is set on each
// connection before its handshake, because replacing a listener resets the connections that it has not accepted yet.

import { createSecureContext } from "node:tls";
import { Connection, type Handler, type Host } from "./connection.ts";
import { ConnectionPool } from "./connection-pool.ts";

const SECOND_MS = 1000;

export interface Address {
  hostname: string;
  /** 0: any free port. */
  port: number;
  /** Serves by a listener that is there already (handover.ts), instead of one of its own. */
  serve?: (handler: Handler) => Server;
}

/** A certificate and its key, in PEM. */
export interface Certificate {
  cert: string;
  key: string;
}

/** A socket before its handshake. `setKeyCert` takes the native part of the result of `createSecureContext`. */
interface CertifiedSocket extends Bun.Socket<Connection | undefined> {
  setKeyCert(context: object): void;
}

export interface Server {
  hostname: string;
  port: number;
  /** Sets the certificate for new connections. Only for a server that was started with one. */
  reload(certificate: Certificate): void;
  /** Accepts no further requests; resolves once those in flight are answered. */
  stop(): Promise<void>;
}

/** Tests an address by listening on it for a moment. Throws when it cannot be listened on. */
export function tryAddress(address: Address): void {
  Bun.listen({ ...address, socket: { data() {} } }).stop(true);
}

/** Starts a server. Throws when the address cannot be listened on. */
export function listen(
  handler: Handler,
  address: Address,
  certificate: Certificate | null,
  connections = new ConnectionPool(),
): Server {
  const { hostname, port, serve } = address;
  if (serve) return serve(handler);
  const clock = createClock(connections);
  const stopped = Promise.withResolvers<void>();
  let isStopping = false;
  const hostFor = (): Host => ({ handler, isRetiring: false, now: clock.now });
  let host = hostFor();
  /** Replaces the certificate that the listener was started with. */
  let replacement: object | null = null;
  const listener = Bun.listen<Connection | undefined>({
    hostname,
    port,
    // A client that closes its sending side after its request still gets the response.
    allowHalfOpen: true,
    ...(certificate && { tls: { cert: certificate.cert, key: certificate.key } }),
    socket: {
      open(socket) {
        const client = connections.admit(socket.remoteAddress);
        if (client === undefined) return socket.terminate();
        if (replacement) (socket as CertifiedSocket).setKeyCert(replacement);
        const connection = new Connection(socket as Bun.Socket<Connection>, host, client);
        socket.data = connection;
        connections.add(connection);
        clock.start();
      },
      // Empty, but its presence makes Bun call `open` before the TLS handshake, in time for the certificate and a time
      // limit.
      handshake() {},
      data: ({ data: connection }, bytes) => connection?.receive(bytes),
      drain: ({ data: connection }) => connection?.drain(),
      end: ({ data: connection }) => connection?.end(),
      close({ data: connection }) {
        // The connection was not admitted.
        if (!connection) return;
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
  return {
    hostname,
    port: listener.port,
    reload({ cert, key }) {
      replacement = createSecureContext({ cert, key }).context as object;
      host.isRetiring = true;
      host = hostFor();
    },
    async stop() {
      listener.stop();
      host.isRetiring = true;
      isStopping = true;
      // Requests that have already arrived are still read and answered.
      await new Promise(setImmediate);
      for (const connection of connections) connection.retire();
      if (connections.size > 0) await stopped.promise;
    },
  };
}

/** Counts seconds for the timeouts; runs only while there are connections. */
function createClock(connections: ConnectionPool) {
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
