// A TCP proxy that cuts connections: what a network does between two machines.

export interface Proxy {
  port: number;
  /** Cuts the next connection that carries bytes once that many more have passed in either direction. */
  cutAfter(bytes: number): void;
  /** Drops the next reply to a COMMIT that PostgreSQL sends, and cuts its connection: committed, and nobody knows. */
  cutAtCommit(): void;
  /** How many connections were cut. */
  cuts(): number;
  /** Whether a cut is still to come. */
  isArmed(): boolean;
  stop(): void;
}

interface Side {
  /** Whether it is the connection to PostgreSQL. */
  isUpstream: boolean;
  other: Bun.Socket<Side> | null;
  pending: Uint8Array[];
}

/** As PostgreSQL says that it is done. */
const COMMITTED = "COMMIT\0";

export async function startProxy(target: number): Promise<Proxy> {
  let left: number | null = null;
  let isCommitDue = false;
  let cuts = 0;

  const cut = (socket: Bun.Socket<Side>) => {
    cuts += 1;
    left = null;
    isCommitDue = false;
    socket.data.other?.terminate();
    socket.terminate();
  };
  const pass = (socket: Bun.Socket<Side>, bytes: Uint8Array) => {
    if (isCommitDue && socket.data.isUpstream && Buffer.from(bytes).includes(COMMITTED)) {
      return cut(socket);
    }
    if (left !== null && bytes.length >= left) {
      send(socket, bytes.slice(0, left));
      return cut(socket);
    }
    if (left !== null) left -= bytes.length;
    send(socket, bytes);
  };
  const send = (socket: Bun.Socket<Side>, bytes: Uint8Array) => {
    const { other } = socket.data;
    if (!other || other.data.pending.length > 0) {
      (other?.data.pending ?? socket.data.pending).push(bytes);
      return;
    }
    const written = other.write(bytes);
    if (written < bytes.length) other.data.pending.push(bytes.slice(Math.max(written, 0)));
  };
  const drain = (socket: Bun.Socket<Side>) => {
    const { pending } = socket.data;
    while (pending.length > 0) {
      const written = socket.write(pending[0]!);
      if (written < pending[0]!.length) {
        pending[0] = pending[0]!.slice(Math.max(written, 0));
        return;
      }
      pending.shift();
    }
  };
  const close = (socket: Bun.Socket<Side>) => {
    socket.data.other?.end();
  };

  const server = Bun.listen<Side>({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      async open(socket) {
        socket.data = { isUpstream: false, other: null, pending: [] };
        try {
          const upstream = await Bun.connect<Side>({
            hostname: "127.0.0.1",
            port: target,
            data: { isUpstream: true, other: socket, pending: [] },
            socket: { data: pass, drain, close, error: (each) => each.terminate() },
          });
          const early = socket.data.pending.splice(0);
          socket.data.other = upstream;
          for (const bytes of early) send(socket, bytes);
        } catch {
          socket.terminate();
        }
      },
      data: pass,
      drain,
      close,
      error: (socket) => socket.terminate(),
    },
  });
  return {
    port: server.port,
    cutAfter(bytes) {
      left = bytes;
    },
    cutAtCommit() {
      isCommitDue = true;
    },
    cuts: () => cuts,
    isArmed: () => left !== null || isCommitDue,
    stop: () => server.stop(true),
  };
}
