// `bun bench/tools/delay-proxy.ts PORT MILLISECONDS`: a TCP proxy on 127.0.0.1 that hands on what PORT answers that much
// later, as if it were on another machine. A process of its own, so that its work is not counted as the server's.

const [port, milliseconds] = process.argv.slice(2).map(Number) as [number, number];

interface Side {
  other: Bun.Socket<Side> | null;
  pending: Uint8Array[];
}

function send(socket: Bun.Socket<Side>, bytes: Uint8Array): void {
  if (socket.data.pending.length > 0) {
    socket.data.pending.push(bytes);
    return;
  }
  const written = Math.max(socket.write(bytes), 0);
  if (written < bytes.length) socket.data.pending.push(bytes.slice(written));
}

function drain(socket: Bun.Socket<Side>): void {
  const pending = socket.data.pending.splice(0);
  for (const bytes of pending) send(socket, bytes);
}

const server = Bun.listen<Side>({
  hostname: "127.0.0.1",
  port: 0,
  socket: {
    async open(socket) {
      socket.data = { other: null, pending: [] };
      const early: Uint8Array[] = [];
      socket.data.pending = early;
      const upstream = await Bun.connect<Side>({
        hostname: "127.0.0.1",
        port,
        data: { other: socket, pending: [] },
        socket: {
          data(_, bytes) {
            const copy = bytes.slice();
            setTimeout(() => send(socket, copy), milliseconds);
          },
          drain,
          close() {
            socket.end();
          },
        },
      });
      socket.data.other = upstream;
      socket.data.pending = [];
      for (const bytes of early) send(upstream, bytes);
    },
    data(socket, bytes) {
      const { other, pending } = socket.data;
      if (other) send(other, bytes);
      else pending.push(bytes.slice());
    },
    drain,
    close(socket) {
      socket.data.other?.end();
    },
  },
});
process.stdout.write(`listening on ${server.port}\n`);
