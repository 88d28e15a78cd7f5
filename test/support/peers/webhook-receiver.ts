// A receiver of webhooks for tests: raw sockets, so that it can answer in any way and count what connects to it.

import { createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { once } from "node:events";

export interface Received {
  head: string;
  headers: Record<string, string>;
  body: string;
  /** The address that was connected to. */
  address: string;
  /** The name of the TLS handshake. */
  serverName: string | false | null;
}

/** What is sent back; a function takes over the connection. */
export type Answer = string | ((socket: Socket, received: Received) => void);

export interface Receiver {
  port: number;
  /** Connections that were opened, whether or not anything was sent. */
  connections(): number;
  received: Received[];
  answer: Answer;
  stop(): Promise<void>;
}

export const OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

export async function startReceiver(
  answer: Answer = OK,
  { host = "127.0.0.1", tls }: { host?: string; tls?: { cert: string; key: string } } = {},
): Promise<Receiver> {
  let connections = 0;
  const sockets = new Set<Socket>();
  const receiver: Receiver = {
    port: 0,
    connections: () => connections,
    received: [],
    answer,
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
  const serve = (socket: Socket) => {
    let text = "";
    socket.on("error", () => {});
    socket.on("data", (data) => {
      text += data.toString("latin1");
      const received = requestIn(text, socket);
      if (!received) return;
      text = "";
      receiver.received.push(received);
      const { answer } = receiver;
      if (typeof answer === "string") socket.end(answer, "latin1");
      else answer(socket, received);
    });
  };
  const server: Server = tls ? createTlsServer(tls, serve) : createServer(serve);
  server.on("connection", (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
  });
  server.listen(0, host);
  await once(server, "listening");
  receiver.port = (server.address() as { port: number }).port;
  return receiver;
}

/** Null until the whole request is there. */
function requestIn(text: string, socket: Socket): Received | null {
  const end = text.indexOf("\r\n\r\n");
  if (end < 0) return null;
  const [head = "", ...lines] = text.slice(0, end).split("\r\n");
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const body = text.slice(end + 4);
  if (body.length < Number(headers["content-length"] ?? 0)) return null;
  const { servername = null } = socket as { servername?: string | false };
  return {
    head,
    headers,
    body: Buffer.from(body, "latin1").toString(),
    address: socket.localAddress!,
    serverName: servername,
  };
}
