// Forged notices are limited by address, over real HTTP, and a genuine one is never refused for what others sent.

import { afterAll, describe, expect, test } from "bun:test";
import { Webhook } from "standardwebhooks";
import { parseNetwork } from "../../src/config/networks.ts";
import { callback } from "../../src/payments/callback.ts";
import { deliver, newEvent } from "../support/peers/stripe/events.ts";
import { TEST_KEY, WEBHOOK_SECRET } from "../support/peers/stripe/server.ts";
import { askPayment, seedMember, seedMethod } from "../support/seeds/payments.ts";
import { openService, type ServiceOptions, type TestService } from "../support/worlds/service.ts";

const SECRET = callback.settings.find(({ name }) => name === "secret")!.make!();
/** More than a burst, and what it gains in a minute. */
const FLOOD = 250;
const ON = { requests: 100, milliseconds: 1000 };
const PROXY = [parseNetwork("127.0.0.1")!];

const opened: TestService[] = [];
afterAll(() => Promise.all(opened.map((each) => each.stop())));

async function open(settings: ServiceOptions["settings"]) {
  const service = await openService({ settings: { rateLimit: ON, ...settings } });
  opened.push(service);
  const actor = seedMember(service);
  seedMethod(service, "pay", "callback", { settings: JSON.stringify({ secret: SECRET }) });
  const secrets = { "secret-key": TEST_KEY, "webhook-secret": WEBHOOK_SECRET };
  seedMethod(service, "card", "stripe", { settings: JSON.stringify(secrets) });
  const post = async (path: string, body: string, headers: Record<string, string>) => {
    const sent = { method: "POST", body, headers };
    const response = await fetch(`${service.url}/payments/${path}`, sent);
    await response.text();
    return response;
  };
  const from = (address: string | null): Record<string, string> =>
    address === null ? {} : { "x-forwarded-for": address };
  let count = 0;
  return {
    forge: (path: string, address: string | null) =>
      post(path, "{}", { ...from(address), "stripe-signature": "t=1,v1=00" }),
    async flood(path: string, address: string | null): Promise<number[]> {
      const statuses: number[] = [];
      for (let each = 0; each < FLOOD; each += 1) {
        statuses.push((await this.forge(path, address)).status);
      }
      return statuses;
    },
    /** A genuine notice of the program about a payment of its own. */
    async report(address: string | null): Promise<number> {
      count += 1;
      const now = Date.now();
      const id = askPayment(service, { methodId: "pay", actor, now });
      const paid = { payment: id, id: `p-${id}`, amount: "10.00", currency: "USD" };
      const body = JSON.stringify({ type: "payment.paid", data: paid });
      const at = new Date(now);
      const headers = {
        "webhook-id": `n-${count}`,
        "webhook-timestamp": String(Math.floor(now / 1000)),
        "webhook-signature": new Webhook(SECRET).sign(`n-${count}`, at, body),
      };
      return (await post("callback/pay", body, { ...headers, ...from(address) })).status;
    },
    /** A genuine event of Stripe, about something else than a payment. */
    async event(): Promise<number> {
      const event = newEvent(
        "charge.succeeded",
        { id: "ch_1", object: "charge" },
        Date.now(),
        false,
      );
      const endpoint = { url: `${service.url}/payments/stripe/card`, secrets: [WEBHOOK_SECRET] };
      return (await deliver(event, endpoint)).status;
    },
  };
}

const FORGED: [string, first: number][] = [
  ["callback/pay", 401],
  ["stripe/card", 401],
  ["stripe/nothing", 404],
  ["callback/card", 404],
];

describe("forged notices", () => {
  test.each(FORGED)("to %s get %d, then 429 with the time to wait", async (path, first) => {
    const to = await open({ trustedProxy: PROXY });
    const statuses = await to.flood(path, "203.0.113.7");
    expect(statuses.slice(0, 100)).toEqual(Array<number>(100).fill(first));
    expect(statuses.at(-1)).toBe(429);
    expect(new Set(statuses)).toEqual(new Set([first, 429]));
    const refused = await to.forge(path, "203.0.113.7");
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    // Others are not limited by it: neither a genuine notice, nor the first that is not.
    expect(await to.report("198.51.100.1")).toBe(200);
    expect((await to.forge(path, "198.51.100.2")).status).toBe(first);
  });

  test("from a network of IPv6 are those of one address", async () => {
    const to = await open({ trustedProxy: PROXY });
    await to.flood("callback/pay", "2001:db8:1:2::1");
    expect((await to.forge("callback/pay", "2001:db8:1:2::ffff")).status).toBe(429);
  });

  test("are not limited with --rate-limit 0", async () => {
    const to = await open({ rateLimit: 0 });
    expect(new Set(await to.flood("callback/pay", null))).toEqual(new Set([401]));
  });
});

describe("genuine notices are taken", () => {
  test("however many there are", async () => {
    const to = await open({ trustedProxy: PROXY });
    const statuses = [];
    for (let each = 0; each < FLOOD; each += 1) statuses.push(await to.report("203.0.113.9"));
    for (let each = 0; each < FLOOD; each += 1) statuses.push(await to.event());
    expect(new Set(statuses)).toEqual(new Set([200]));
  });

  test("from an address that was known before forged ones came from it, as from a proxy", async () => {
    const to = await open({});
    expect(await to.event()).toBe(200);
    expect((await to.flood("stripe/card", null)).at(-1)).toBe(429);
    expect(await to.event()).toBe(200);
    expect(await to.report(null)).toBe(200);
  });

  test("behind a proxy that is not trusted, whatever others sent through it", async () => {
    const to = await open({});
    expect((await to.flood("callback/pay", "203.0.113.7")).at(-1)).toBe(429);
    expect(await to.report("198.51.100.1")).toBe(200);
  });
});
