// A provider for tests, over real HTTP: replies correctly unless set otherwise, and records all it was sent.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";

export const PROVIDER_KEY = "upstream-secret-4711";

export type Form = Record<string, string>;

/** The reply to a call; `hang` and `reset` come after the call took effect. */
export type Reply = { status?: number; body: string; headers?: Record<string, string> } | Fault;
type Fault = "hang" | "reset" | "cut";

/** One order in the provider's own book. */
export interface BookEntry {
  form: Form;
  /** Its reply to `status`; of any type, so that it can be invalid. */
  status: unknown;
}

export interface Upstream {
  url: string;
  /** Every form, in the order in which it came. */
  received: Form[];
  /** The orders that it accepted, by its number. */
  book: Map<string, BookEntry>;
  /** The refills that it took on, by its number, with their status. */
  refills: Map<string, string>;
  /** The replies to `services` and `balance`. */
  services: unknown;
  balance: unknown;
  adds(): Form[];
  /** Replies to the next calls of an action; after them it replies correctly again. */
  next(action: string, ...replies: Reply[]): void;
  /** The reply to every call of an action until it is set to null. */
  always(action: string, reply: Reply | null): void;
  /** Replies to calls of an action only once this is settled. */
  holds(action: string, until: Promise<unknown>): void;
  /** Refuses connections. */
  down(): Promise<void>;
  /** Listens again, on the same port. */
  up(): Promise<void>;
  stop(): Promise<void>;
}

export function json(body: unknown, status = 200): Reply {
  return { status, body: JSON.stringify(body), headers: { "content-type": "application/json" } };
}

export async function startUpstream(): Promise<Upstream> {
  const sockets = new Set<Socket>();
  const planned = new Map<string, Reply[]>();
  const standing = new Map<string, Reply>();
  const held = new Map<string, Promise<unknown>>();
  let server: Server | undefined;
  let port = 0;
  let lastNumber = 23_500;

  const listen = async () => {
    server = createServer((request, response) => void handle(request, response));
    server.on("connection", (socket: Socket) => {
      sockets.add(socket);
      socket.on("close", () => sockets.delete(socket));
    });
    await new Promise<void>((resolve) => server!.listen(port, "127.0.0.1", resolve));
    port = (server.address() as AddressInfo).port;
  };

  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const form = Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString()));
    upstream.received.push(form);
    const action = form["action"] ?? "";
    const honest = answer(form);
    const reply = planned.get(action)?.shift() ?? standing.get(action) ?? json(honest);
    await held.get(action);
    if (reply === "hang") return;
    if (reply === "reset") {
      request.socket.destroy();
      return;
    }
    if (reply === "cut") {
      response.writeHead(200, { "content-length": "100" });
      response.write('{"order":');
      setTimeout(() => request.socket.destroy(), 20);
      return;
    }
    response.writeHead(reply.status ?? 200, reply.headers ?? {}).end(reply.body);
  };

  /** Takes effect whatever the reply is, as with a real provider. */
  const answer = (form: Form): unknown => {
    if (form["key"] !== PROVIDER_KEY) return { error: "Invalid API key" };
    switch (form["action"]) {
      case "add": {
        lastNumber += 1;
        const status = { status: "Pending", start_count: "0", remains: form["quantity"] };
        upstream.book.set(String(lastNumber), { form, status });
        return { order: lastNumber };
      }
      case "status": {
        const statusOf = (order: string) =>
          upstream.book.get(order)?.status ?? { error: "Incorrect order ID" };
        if (form["order"] !== undefined) return statusOf(form["order"]);
        const orders = (form["orders"] ?? "").split(",");
        if (orders.length > 100) return { error: "Incorrect request" };
        return Object.fromEntries(orders.map((order) => [order, statusOf(order)]));
      }
      case "cancel":
        return (form["orders"] ?? "").split(",").map((order) => ({
          order: Number(order),
          cancel: upstream.book.has(order) ? 1 : { error: "Incorrect order ID" },
        }));
      case "refill": {
        if (!upstream.book.has(form["order"] ?? "")) return { error: "Incorrect order ID" };
        const refill = String(upstream.refills.size + 1);
        upstream.refills.set(refill, "Pending");
        return { refill };
      }
      case "refill_status": {
        const statusOf = (refill: string) =>
          upstream.refills.get(refill) ?? { error: "Refill not found" };
        if (form["refill"] !== undefined) return { status: statusOf(form["refill"]) };
        const refills = (form["refills"] ?? "").split(",");
        return refills.map((refill) => ({ refill: Number(refill), status: statusOf(refill) }));
      }
      case "services":
        return upstream.services;
      case "balance":
        return upstream.balance;
      default:
        return { error: "Incorrect request" };
    }
  };

  const upstream: Upstream = {
    url: "",
    received: [],
    book: new Map(),
    refills: new Map(),
    services: [],
    balance: { balance: "100.84292", currency: "USD" },
    adds: () => upstream.received.filter((form) => form["action"] === "add"),
    next(action, ...replies) {
      planned.set(action, [...(planned.get(action) ?? []), ...replies]);
    },
    always(action, reply) {
      if (reply === null) standing.delete(action);
      else standing.set(action, reply);
    },
    holds: (action, until) => void held.set(action, until),
    async down() {
      const closed = new Promise((resolve) => server?.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
    up: listen,
    async stop() {
      await upstream.down();
    },
  };
  await listen();
  upstream.url = `http://127.0.0.1:${port}/api/v2`;
  return upstream;
}
