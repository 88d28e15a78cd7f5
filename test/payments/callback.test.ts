// Payments that another program reports, over real HTTP: what is genuine is credited once, and nothing else changes anything.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { Webhook } from "standardwebhooks";
import type { Actor } from "../../src/domain/ledger/ledger.ts";
import { callback } from "../../src/payments/callback.ts";
import { createPayments } from "../../src/payments/payments.ts";
import { verifyStore } from "../support/databases/verify.ts";
import { askPayment, DOLLAR, seedMember, seedMethod } from "../support/seeds/payments.ts";
import { openService, type TestService } from "../support/worlds/service.ts";

const SECRET = callback.settings.find(({ name }) => name === "secret")!.make!();
const SAMPLES = new URL("../../docs/samples", import.meta.url).pathname;
const PHP = Bun.which("php");

let service: TestService;
let actor: Actor;
beforeAll(async () => {
  service = await openService();
  actor = seedMember(service);
  seedMethod(service, "pay", "callback", { settings: JSON.stringify({ secret: SECRET }) });
  seedMethod(service, "bank", "manual");
});
afterAll(() => service.stop());

/** A payment of 10 USD that is begun. */
function begun(methodId = "pay"): string {
  const now = Date.now();
  const id = askPayment(service, { methodId, actor, now });
  const result = { outcome: "begun", reference: null, url: null, expiresAt: now + 60_000 } as const;
  service.execute("recordBegun", { id, isReadable: false, result }, now);
  return id;
}

let notices = 0;
const paid = (payment: string, more: object = {}) => {
  notices += 1;
  const data = { payment, id: `p-${payment}`, amount: "10.00", currency: "USD", ...more };
  return JSON.stringify({ type: "payment.paid", data });
};

/** Signed by the judge: the reference implementation of Standard Webhooks. */
function signed(body: string, secret = SECRET, at = Date.now(), id = `n-${notices}`) {
  const signature = new Webhook(secret).sign(id, new Date(at), body);
  const timestamp = String(Math.floor(at / 1000));
  return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature };
}

async function send(
  body: string,
  headers: Record<string, string> = signed(body),
  path = "/payments/callback/pay",
): Promise<number> {
  const response = await fetch(service.url + path, { method: "POST", body, headers });
  await response.text();
  return response.status;
}

const balance = () => service.balance("alice");
const stateOf = (id: string) =>
  service.query<{ state: string; awaits: string | null }>(
    `SELECT state, awaits FROM payments WHERE id = '${id}'`,
  )[0]!;

test("a payment that is reported as paid many times at once is credited once", async () => {
  const id = begun();
  const before = balance();
  const body = paid(id);
  const headers = signed(body);
  const statuses = await Promise.all(Array.from({ length: 8 }, () => send(body, headers)));
  expect(statuses).toEqual(Array.from({ length: 8 }, () => 200));
  expect(await send(body, signed(body))).toBe(200);
  expect(balance() - before).toBe(10 * DOLLAR);
  expect(stateOf(id)).toEqual({ state: "paid", awaits: null });
});

/** Payments that stay open. */
let [open, inBank] = ["", ""];
beforeAll(() => {
  [open, inBank] = [begun(), begun("bank")];
});

describe("is refused without a change", () => {
  const id = () => "x".repeat(24);
  const cases: [string, number, () => Promise<number>][] = [
    ["no signature", 401, () => send(paid(open), {})],
    ["another secret", 401, () => { const body = paid(open); return send(body, signed(body, callback.settings[0]!.make!())); }],
    ["another body", 401, () => { const first = open; const body = paid(first); return send(body.replace("10.00", "99.00"), signed(body)); }],
    ["a notice of 6 minutes ago", 401, () => { const body = paid(open); return send(body, signed(body, SECRET, Date.now() - 360_000)); }],
    ["a notice of the future", 401, () => { const body = paid(open); return send(body, signed(body, SECRET, Date.now() + 420_000)); }],
    ["a timestamp that is not a number", 401, () => { const body = paid(open); return send(body, { ...signed(body), "webhook-timestamp": "soon" }); }],
    ["an unknown payment", 404, () => send(paid(id()))],
    ["a payment of another method", 404, () => send(paid(inBank))],
    ["an unknown method", 404, () => { const body = paid(open); return send(body, signed(body), "/payments/callback/none"); }],
    ["a method of another kind", 404, () => { const body = paid(open); return send(body, signed(body), "/payments/callback/bank"); }],
    ["the path of another kind than the method's", 404, () => { const body = paid(open); return send(body, signed(body), "/payments/stripe/pay"); }],
    ["no id of a payment", 422, () => send(paid("short"))],
    ["no id of the program", 422, () => send(paid(open, { id: "" }))],
    ["no amount", 422, () => send(paid(open, { amount: null }))],
    ["an amount of 0", 422, () => send(paid(open, { amount: "0" }))],
    ["a negative amount", 422, () => send(paid(open, { amount: -5 }))],
    ["an amount with seven decimals", 422, () => send(paid(open, { amount: "1.0000001" }))],
    ["no currency", 422, () => send(paid(open, { currency: "dollars" }))],
    ["a body of more than 64 KiB", 413, () => { const body = paid(open, { more: "x".repeat(70_000) }); return send(body); }],
    ["a GET", 405, async () => (await fetch(`${service.url}/payments/callback/pay`)).status],
  ]; // prettier-ignore
  test.each(cases)("%s: %i", async (_, status, act) => {
    const before = balance();
    const paidBefore = service.query(
      "SELECT count(*) AS n FROM payments WHERE paid_at IS NOT NULL",
    );
    expect(await act()).toBe(status);
    expect(balance()).toBe(before);
    expect(service.query("SELECT count(*) AS n FROM payments WHERE paid_at IS NOT NULL")).toEqual(
      paidBefore,
    );
  });

  test("no JSON, and other types: 200 without effect", async () => {
    const before = balance();
    for (const body of ["", "{", "[]", "null", JSON.stringify({ type: "payment.refunded" })]) {
      notices += 1;
      expect(await send(body)).toBe(200);
    }
    expect(balance()).toBe(before);
  });
});

test("a second id for a paid payment, and an id that another payment has, are conflicts and credit nothing", async () => {
  const [first, second] = [begun(), begun()];
  expect(await send(paid(first))).toBe(200);
  const before = balance();
  expect(await send(paid(first, { id: "another" }))).toBe(409);
  expect(await send(paid(second, { id: `p-${first}` }))).toBe(409);
  expect(balance()).toBe(before);
  expect(stateOf(second).state).toBe("pending");
});

test("an id that was reported for an already approved payment cannot credit another", async () => {
  const [approved, other] = [begun(), begun()];
  service.run("approvePayment", { id: approved, receivedMicros: null, creditMicros: null });
  const before = balance();
  expect(await send(paid(approved))).toBe(200);
  expect(await send(paid(approved))).toBe(200);
  expect(await send(paid(other, { id: `p-${approved}` }))).toBe(409);
  expect(await send(paid(approved, { id: "another" }))).toBe(409);
  expect(balance()).toBe(before);
  expect(stateOf(other).state).toBe("pending");
});

test("another amount credits what was received, another currency waits for the operator", async () => {
  const [less, euros] = [begun(), begun()];
  const before = balance();
  expect(await send(paid(less, { amount: 4.5 }))).toBe(200);
  expect(balance() - before).toBe(4.5 * DOLLAR);
  expect(await send(paid(euros, { currency: "EUR" }))).toBe(200);
  expect(balance() - before).toBe(4.5 * DOLLAR);
  expect(stateOf(euros)).toEqual({ state: "pending", awaits: "currency" });
});

test("money for a payment that had expired or that was only created is credited", async () => {
  const now = Date.now();
  const created = askPayment(service, { methodId: "pay", actor, now });
  const expired = begun();
  service.execute("takeDuePayments", { limit: 100, readableKinds: [] }, now + 30 * 86_400_000);
  expect(stateOf(expired).state).toBe("expired");
  const before = balance();
  expect(await send(paid(created))).toBe(200);
  expect(await send(paid(expired))).toBe(200);
  expect(balance() - before).toBe(20 * DOLLAR);
});

test.each([["payment.mjs", "node"], ...(PHP ? [["payment.php", "php"]] : [])])(
  "the sample %s reports a payment, and a repeated call changes nothing",
  async (file, program) => {
    const id = begun();
    const before = balance();
    const run = async (secret: string) => {
      const child = Bun.spawn([program!, join(SAMPLES, file!), id, `s-${id}`, "10.00", "USD"], {
        env: {
          PATH: process.env["PATH"] ?? "",
          CALLBACK_URL: `${service.url}/payments/callback/pay`,
          PAYMENT_SECRET: secret,
        },
        stdout: "pipe",
        stderr: "inherit",
      });
      return [await child.exited, (await new Response(child.stdout).text()).slice(0, 3)];
    };
    expect(await run(callback.settings[0]!.make!())).toEqual([1, "401"]);
    expect(await run(SECRET)).toEqual([0, "200"]);
    expect(await run(SECRET)).toEqual([0, "200"]);
    expect(balance() - before).toBe(10 * DOLLAR);
  },
);

test("a genuine notice about a payment that is not there is a warning in the log: a restore may have lost it", async () => {
  const warned: object[] = [];
  const payments = createPayments({
    store: service.store,
    writer: {
      submit: (name, input) => Promise.resolve(service.run(name as never, input as never)),
    },
    log: { info() {}, warn: (fields) => void warned.push(fields), error() {} },
    timeoutMs: 1000,
    stripeApi: null,
  });
  const payment = "y".repeat(24);
  const body = paid(payment);
  const notice = { body: Buffer.from(body), headers: new Headers(signed(body)), now: Date.now() };
  expect(await payments.receive("callback", "pay", notice)).toBe("unknown");
  expect(warned).toEqual([{ payment, method: "pay" }]);
});

test("after all these notices the ledger has no problems", async () => {
  expect(await verifyStore(service)).toEqual([]);
});
