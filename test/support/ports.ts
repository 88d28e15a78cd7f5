// Ports for servers that cannot say which one they were given. Below those that the kernel gives to outgoing connections
// (net.ipv4.ip_local_port_range): one of them could be in use again before the server listens.

const FIRST = 10_000;
const LAST = 32_000;

const given = new Set<number>();

/** A port of 127.0.0.1 that nobody listens on, and that this process has not given before. */
export function freePort(): number {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST));
    if (given.has(port) || !isFree(port)) continue;
    given.add(port);
    return port;
  }
}

function isFree(port: number): boolean {
  try {
    Bun.listen({ hostname: "127.0.0.1", port, socket: { data() {} } }).stop(true);
    return true;
  } catch (error) {
    if ((error as { code?: unknown }).code === "EADDRINUSE") return false;
    throw error;
  }
}
