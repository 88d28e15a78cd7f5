// A local Stripe: answers as its API is documented, refuses what it refuses, and fails on demand. It knows one account in
// one mode, with one secret key and one webhook endpoint.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { type Account, createAccount } from "./account.ts";
import { createApi } from "./api.ts";
import { type Delivery, deliver, type Endpoint, newEvent, type StripeEvent } from "./events.ts";
import { ACTIONS, type Action, endedPage, paymentPage } from "./page.ts";

export const TEST_KEY = "sk_test_51LocalStripeKeyForTests0000000001";
export const LIVE_KEY = "sk_live_51LocalStripeKeyForTests0000000002";
export const WEBHOOK_SECRET = "whsec_LocalStripeEndpointSecret000000001";

interface Options {
  /** Certificate and key (PEM): https instead of http. */
  tls?: { cert: string; key: string };
  livemode?: boolean;
  endpoint?: Endpoint | null;
}

export type LocalStripe = Awaited<ReturnType<typeof startStripe>>;

/** Requests of the Stripe method have a few hundred bytes. */
const BODY_LIMIT = 100_000;

export async function startStripe({ tls, livemode = false, endpoint = null }: Options = {}) {
  const key = livemode ? LIVE_KEY : TEST_KEY;
  const clock = { offsetMs: 0 };
  const nowMs = () => Date.now() + clock.offsetMs;
  const now = () => Math.floor(nowMs() / 1000);
  const events: StripeEvent[] = [];
  const to = { endpoint, isAutomatic: false };
  const account: Account = createAccount(
    (type, object) => void events.push(newEvent(type, object, now(), livemode)),
    now,
    livemode,
  );

  const api = createApi({ account, key, nowMs, origin: () => origin });

  /** The payment page of a session. */
  async function pay(
    request: IncomingMessage,
    response: ServerResponse,
    body: string,
  ): Promise<void> {
    const id = new URL(request.url!, origin).pathname.split("/").at(-1)!;
    const session = account.session(id);
    const html = (text: string) =>
      void response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(text);
    const leave = (to: string) =>
      void response.writeHead(303, { location: to.replaceAll("{CHECKOUT_SESSION_ID}", id) }).end();
    const action = new URLSearchParams(body).get("action") as Action | null;
    if (action === "back") return leave(session.cancel_url!);
    if (session.status !== "open") return html(endedPage());
    if (request.method !== "POST") return html(paymentPage(session, "Add funds", ""));
    if (!action || !(action in ACTIONS)) return html(paymentPage(session, "Add funds", "Choose"));
    const before = events.length;
    if (action === "bank") account.payByBank(id);
    else account.payByCard(id, action === "declined");
    // Stripe waits for the endpoint before it sends the customer back.
    if (to.isAutomatic)
      for (const event of events.slice(before)) await deliver(event, to.endpoint!);
    if (action === "declined")
      return html(paymentPage(session, "Add funds", "Your card was declined."));
    leave(session.success_url!);
  }

  const listener = (request: IncomingMessage, response: ServerResponse) => {
    void readBody(request).then((body) =>
      request.url!.startsWith("/c/pay/")
        ? pay(request, response, body)
        : api.handle(request, response, body),
    );
  };
  const server = tls ? createTlsServer(tls, listener) : createServer(listener);
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  // Another site than the one of the server under test, as Stripe's page is.
  const origin = `${tls ? "https" : "http"}://localhost:${port}`;

  return {
    ...api,
    /** Address of the API. */
    url: tls ? origin : `http://127.0.0.1:${port}`,
    key,
    clock,
    account,
    events,
    to,
    /** The newest session. */
    get session() {
      const sessions = [...account.sessions.values()];
      return sessions.at(-1)!;
    },
    /** The newest event of a type. */
    event(type: string): StripeEvent {
      const found = events.findLast((each) => each.type === type);
      if (!found)
        throw new Error(`no event ${type}: ${events.map((each) => each.type).join(", ")}`);
      return found;
    },
    deliver: (event: StripeEvent, change?: Delivery) => deliver(event, to.endpoint!, change),
    async stop(): Promise<void> {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > BODY_LIMIT) throw new Error("a request is too long");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
