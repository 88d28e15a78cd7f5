// The local Stripe that tests pay at, asked by Stripe's official package: it answers, and refuses, as the documentation says.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { Stripe } from "stripe";
import { LIVE_KEY, type LocalStripe, startStripe } from "../support/peers/stripe/server.ts";
import { until } from "../support/until.ts";

type Params = Stripe.Checkout.SessionCreateParams;

let local: LocalStripe;
let stripe: Stripe;
beforeAll(async () => {
  local = await startStripe();
  stripe = clientFor(local.key);
});
afterAll(() => local.stop());
beforeEach(() => void (local.asked.length = 0));

function clientFor(key: string): Stripe {
  const { hostname, port } = new URL(local.url);
  const httpClient = Stripe.createFetchHttpClient();
  const address = { protocol: "http", host: hostname, port: Number(port) } as const;
  return new Stripe(key, { ...address, httpClient, maxNetworkRetries: 0, telemetry: false });
}

function params(changes: Partial<Params> = {}, amount = 1000, currency = "usd"): Params {
  const price_data = { currency, unit_amount: amount, product_data: { name: "Funds" } };
  return {
    mode: "payment",
    line_items: [{ quantity: 1, price_data }],
    success_url: "https://shop.example/paid",
    ...changes,
  };
}

/** What the package throws for a request. */
async function thrown(request: Promise<unknown>): Promise<Stripe.errors.StripeError> {
  try {
    await request;
  } catch (error) {
    return error as Stripe.errors.StripeError;
  }
  throw new Error("nothing was thrown");
}

describe("sessions", () => {
  test("begin open and unpaid, without a payment intent, for 24 hours", async () => {
    const session = await stripe.checkout.sessions.create(params());
    expect(session).toMatchObject({ status: "open", payment_status: "unpaid", livemode: false });
    expect(session).toMatchObject({ amount_total: 1000, currency: "usd", payment_intent: null });
    expect(session.expires_at - session.created).toBe(24 * 60 * 60);
    expect(session.url).toEndWith(`/c/pay/${session.id}`);
  });

  test("are complete and paid at once by a card", async () => {
    const { id } = await stripe.checkout.sessions.create(params());
    local.account.payByCard(id);
    const expand = ["payment_intent.latest_charge"];
    const session = await stripe.checkout.sessions.retrieve(id, { expand });
    expect(session).toMatchObject({ status: "complete", payment_status: "paid", url: null });
    const intent = session.payment_intent as Stripe.PaymentIntent;
    expect(intent).toMatchObject({ status: "succeeded", amount_received: 1000 });
    expect(intent.latest_charge).toMatchObject({ paid: true, amount: 1000, disputed: false });
  });

  test("are complete and unpaid by a delayed method, until its bank reports", async () => {
    const ends = [true, false];
    for (const isSuccess of ends) {
      const { id } = await stripe.checkout.sessions.create(params());
      local.account.payByBank(id);
      expect(await stripe.checkout.sessions.retrieve(id)).toMatchObject({
        status: "complete",
        payment_status: "unpaid",
      });
      local.account.settle(id, isSuccess);
      const { payment_status } = await stripe.checkout.sessions.retrieve(id);
      expect(payment_status).toBe(isSuccess ? "paid" : "unpaid");
    }
  });

  test("expire at their time or when asked, once", async () => {
    const soon = Math.floor(Date.now() / 1000) + 30 * 60;
    const timed = await stripe.checkout.sessions.create(params({ expires_at: soon }));
    const asked = await stripe.checkout.sessions.create(params());
    expect((await stripe.checkout.sessions.expire(asked.id)).status).toBe("expired");
    const again = await thrown(stripe.checkout.sessions.expire(asked.id));
    expect(again.message).toContain("has a status of expired");
    local.clock.offsetMs = 31 * 60 * 1000;
    expect((await stripe.checkout.sessions.retrieve(timed.id)).status).toBe("expired");
    local.clock.offsetMs = 0;
    expect(() => local.account.payByCard(timed.id)).toThrow("no longer active");
  });
});

describe("refuses", () => {
  const REFUSED: [what: string, params: Params, code: string, param: string][] = [
    [
      "an unknown name",
      params({ colour: "red" } as Partial<Params>),
      "parameter_unknown",
      "colour",
    ],
    ["a missing name", params({ success_url: undefined }), "parameter_missing", "success_url"],
    ["an amount below the minimum", params({}, 49), "amount_too_small", ""],
    ["an amount of nine digits", params({}, 100_000_000), "amount_too_large", ""],
    ["an amount with a fraction", params({}, 10.5), "parameter_invalid_integer", ""],
    ["an unknown currency", params({}, 1000, "xxx"), "currency_not_supported", ""],
    ["a third decimal", params({}, 5124, "kwd"), "parameter_invalid_integer", ""],
    ["an invalid URL", params({ success_url: "/paid" }), "url_invalid", "success_url"],
    ["an expiry in the past", params({ expires_at: 1 }), "parameter_invalid_integer", "expires_at"],
    [
      "an expiry after more than a day",
      params({ expires_at: Math.floor(Date.now() / 1000) + 25 * 3600 }),
      "parameter_invalid_integer",
      "expires_at",
    ],
  ];

  test.each(REFUSED)("%s", async (_, given, code, param) => {
    const error = await thrown(stripe.checkout.sessions.create(given));
    expect(error).toBeInstanceOf(Stripe.errors.StripeInvalidRequestError);
    expect(error).toMatchObject({ statusCode: 400, code });
    if (param !== "") expect(error.param).toBe(param);
  });

  test("another key, and no key", async () => {
    const error = await thrown(clientFor(LIVE_KEY).checkout.sessions.create(params()));
    expect(error).toBeInstanceOf(Stripe.errors.StripeAuthenticationError);
    expect(error.message).not.toContain(LIVE_KEY);
    const response = await fetch(`${local.url}/v1/checkout/sessions`);
    expect(response.status).toBe(401);
  });

  test("bodies in JSON, other versions and unknown addresses", async () => {
    const ask = (path: string, headers: Record<string, string>, body = "{}") =>
      fetch(local.url + path, {
        method: "POST",
        body,
        headers: { authorization: `Bearer ${local.key}`, ...headers },
      });
    const json = { "content-type": "application/json", "stripe-version": Stripe.API_VERSION };
    const form = { "content-type": "application/x-www-form-urlencoded" };
    expect((await ask("/v1/checkout/sessions", json)).status).toBe(400);
    const old = { ...form, "stripe-version": "2010-01-01" };
    expect((await ask("/v1/checkout/sessions", old, "")).status).toBe(400);
    const unknown = { ...form, "stripe-version": Stripe.API_VERSION };
    expect((await ask("/v1/nothing", unknown, "")).status).toBe(404);
  });

  test("an id that does not exist", async () => {
    const error = await thrown(stripe.checkout.sessions.retrieve("cs_test_none"));
    expect(error).toMatchObject({ statusCode: 404, code: "resource_missing", param: "session" });
  });
});

describe("idempotency keys", () => {
  test("repeat the first reply for the same parameters, and refuse others", async () => {
    const options = { idempotencyKey: "key-1" };
    const first = await stripe.checkout.sessions.create(params(), options);
    const again = await stripe.checkout.sessions.create(params(), options);
    expect(again.id).toBe(first.id);
    expect(new Headers(again.lastResponse.headers).get("idempotent-replayed")).toBe("true");
    const error = await thrown(stripe.checkout.sessions.create(params({}, 2000), options));
    expect(error).toBeInstanceOf(Stripe.errors.StripeIdempotencyError);
    expect(error.statusCode).toBe(400);
  });

  test("are free again after 24 hours, and after a request that was not valid", async () => {
    const options = { idempotencyKey: "key-2" };
    await thrown(stripe.checkout.sessions.create(params({}, 1), options));
    const first = await stripe.checkout.sessions.create(params(), options);
    local.clock.offsetMs = 24 * 60 * 60 * 1000;
    const later = await stripe.checkout.sessions.create(params(), options);
    local.clock.offsetMs = 0;
    expect(later.id).not.toBe(first.id);
  });

  test("conflict while the first request is in flight", async () => {
    const options = { idempotencyKey: "key-3" };
    const release = local.hold(/^POST/);
    const first = stripe.checkout.sessions.create(params(), options);
    await until(() => local.asked.length === 1);
    const error = await thrown(stripe.checkout.sessions.create(params(), options));
    expect(error).toMatchObject({ statusCode: 409, code: "idempotency_key_in_use" });
    release();
    expect((await first).status).toBe("open");
  });

  test("repeat a server error that came after the work was done", async () => {
    const options = { idempotencyKey: "key-4" };
    local.fail(/^POST/, "500 after");
    for (const _ of [1, 2]) {
      const error = await thrown(stripe.checkout.sessions.create(params(), options));
      expect(error.statusCode).toBe(500);
    }
  });
});

test("lists have pages of at most 100, the newest first", async () => {
  const { id } = await stripe.checkout.sessions.create(params({}, 25_000));
  local.account.payByCard(id);
  const intent = local.session.payment_intent as string;
  for (let each = 0; each < 120; each += 1) local.account.refund(id, 100);
  const page = await stripe.refunds.list({ payment_intent: intent, limit: 100 });
  expect([page.data.length, page.has_more]).toEqual([100, true]);
  const all = await stripe.refunds
    .list({ payment_intent: intent })
    .autoPagingToArray({ limit: 500 });
  expect(new Set(all.map((refund) => refund.id)).size).toBe(120);
  expect((await thrown(stripe.refunds.list({ limit: 101 }))).code).toBe(
    "parameter_invalid_integer",
  );
});
