// Balances above 2^53 micros, which refunds can reach: exact to the micro in every response, on the command line and in
// verify, after any kind of transfer. The texts are compared, because JSON.parse would round them.

import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import {
  AMOUNT_LIMIT_MICROS,
  BALANCE_LIMIT_MICROS,
  formatMicros,
} from "../../../src/domain/ledger/money.ts";
import { optionsOf, type Ran, reseller } from "../../support/worlds/shop.ts";
import { expectError } from "../../support/http/refusal.ts";
import type { Answer } from "../../support/http/api.ts";
import { openService, type TestService } from "../../support/worlds/service.ts";
import { OPERATOR } from "../../support/databases/test-database.ts";
import { json, PROVIDER_KEY, startUpstream, type Upstream } from "../../support/peers/upstream.ts";
import { until } from "../../support/until.ts";

let upstream: Upstream;
let market: TestService;

beforeAll(async () => {
  upstream = await startUpstream();
  market = await openService();
  const { url } = upstream;
  market.run("createProvider", { name: "acme", protocol: "smm-api", url, key: PROVIDER_KEY });
  const provider = { name: "acme", service: "7" };
  const max = 1_000_000_000;
  market.service({ id: "dear", price: "1000000000", per: "1", min: 1, max });
  market.service({ id: "cheap", price: "0.000001", per: "1", min: 1, max });
  market.service({ id: "sent", price: "10000000", per: "1", min: 1, max, provider });
});

afterAll(async () => {
  await market.stop();
  await upstream.stop();
});

const cli = (...argv: string[]): Promise<Ran> => reseller(...argv, ...optionsOf(market));

let users = 0;

/** A reseller of its own, and what it sees. */
function newReseller() {
  const username = `rich${(users += 1)}`;
  market.user(username);
  const { text: key } = market.key(username, "full");
  const call = (method: string, path: string, body?: unknown) =>
    market.call(method, path, key, body);
  const recharge = (micros: number) =>
    call("POST", "/recharge", `{"username":"${username}","amount":${formatMicros(micros)}}`);
  return {
    username,
    call,
    recharge,
    /** In credits of at most 1,000,000,000 USD. */
    rechargeFully: async (from = 0n): Promise<void> => {
      for (let left = BALANCE_LIMIT_MICROS - Number(from); left > 0; left -= AMOUNT_LIMIT_MICROS) {
        expect((await recharge(Math.min(left, AMOUNT_LIMIT_MICROS))).status).toBe(200);
      }
    },
    order: (service: string, quantity: number) =>
      call("POST", "/orders", { service, link: "https://example.com/me", quantity }),
    /** The balances of all lines of the statement as CSV, newest first. */
    balancesAfter: async (): Promise<string[]> => {
      const headers = { "x-api-key": key, accept: "text/csv" };
      const response = await fetch(`${market.url}/api/v1/transactions`, { headers });
      const [header, ...lines] = (await response.text()).trimEnd().split("\r\n");
      const index = header!.split(",").indexOf("balanceAfter");
      return lines.map((line) => line.split(",")[index]!);
    },
    /** As it is written. */
    balance: async () => memberOf(await call("GET", "/balance"), "balance"),
  };
}

/** A number in the text of an answer, with all its digits. */
function memberOf({ text }: Pick<Answer, "text">, name: string): string {
  return new RegExp(`"${name}":(-?[0-9.]+)[,}]`).exec(text)?.[1] ?? text;
}

test("an order that is cancelled at the largest balance is refunded, and every place shows the new balance", async () => {
  const { username, call, order, recharge, rechargeFully, balance, balancesAfter } = newReseller();
  await rechargeFully();
  const spent = await order("dear", 9);
  expect(memberOf(spent, "charge")).toBe("9000000000");
  const second = await recharge(1);
  expect(memberOf(second, "previousBalance")).toBe("0");
  await rechargeFully(1n);
  expect(await balance()).toBe("9000000000");
  const cancelled = await cli(
    "admin",
    "order",
    "cancel",
    String(spent.body.order.orderId),
    "--yes",
  );
  expect([cancelled.code, cancelled.stderr]).toEqual([0, ""]);
  const small = await order("cheap", 1);
  expect(await balance()).toBe("17999999999.999999");

  const user = await call("GET", `/user?username=${username}`);
  expect(memberOf(user, "balance")).toBe("17999999999.999999");
  const page = await call("GET", "/transactions?limit=1");
  expect(page.text).toContain('"amount":-0.000001,"balanceAfter":17999999999.999999,');
  const ofOrder = await call("GET", `/transactions?orderId=${small.body.order.orderId}`);
  expect(memberOf(ofOrder, "balanceAfter")).toBe("17999999999.999999");
  expect((await balancesAfter()).slice(0, 3)).toEqual([
    "17999999999.999999", "18000000000", "9000000000",
  ]); // prettier-ignore
  const shown = await cli("admin", "user", "show", username, "--json");
  expect(memberOf({ text: shown.stdout }, "balance")).toBe("17999999999.999999");
  expect((await cli("admin", "user", "show", username)).stdout).toContain("17999999999.999999");
  expect((await cli("admin", "user", "list")).stdout).toContain("17999999999.999999");
  expect((await cli("admin", "user", "list", "--json")).stdout).toContain(
    '"balance":17999999999.999999,',
  );

  const refused = await recharge(1);
  expectError(
    refused,
    400,
    "amount must be small enough to keep the balance at or below 9000000000",
  );
  const debited = await cli("admin", "user", "debit", username, "0.000001", "--json");
  expect(memberOf({ text: debited.stdout }, "previousBalance")).toBe("17999999999.999999");
  expect(memberOf({ text: debited.stdout }, "balance")).toBe("17999999999.999998");
  expect((await cli("admin", "user", "debit", username, "0.000001")).stdout).toBe(
    `${username}: 17999999999.999998 → 17999999999.999997 USD\n`,
  );
  const audited = await cli("admin", "audit", "list", "--user", username, "--limit", "1");
  expect(audited.stdout).toContain("balance 17999999999.999998 → 17999999999.999997");
  const audit = await cli("admin", "audit", "list", "--user", username, "--limit", "1", "--json");
  expect(audit.stdout).toContain('"before":{"balance":17999999999.999998}');
  expect(audit.stdout).toContain('"after":{"balance":17999999999.999997,');
  expect((await cli("verify")).code).toBe(0);
});

test("an order that its provider refuses is refunded even if the balance has reached its maximum", async () => {
  const { order, recharge, rechargeFully, balance, call } = newReseller();
  await recharge(10_000_000 * 1e6);
  await upstream.down();
  const waiting = await order("sent", 1);
  expect(waiting.body.order.status).toBe("PENDING");
  await rechargeFully();
  upstream.next("add", json({ error: "Incorrect link" }));
  await upstream.up();
  const { orderId } = waiting.body.order;
  const placement = () =>
    market.query("SELECT placement FROM orders WHERE order_id = ?", orderId)[0]!["placement"];
  await until(() => placement() === "refused");
  expect((await call("GET", `/orders/${orderId}`)).body.order.status).toBe("FAILED");
  expect(await balance()).toBe("9010000000");
  // Above 2^53 the answer is the same.
  upstream.next("add", json({ error: "Incorrect link" }));
  const refused = await order("sent", 900);
  expect(refused.status).toBe(502);
  expect(memberOf(refused, "charge")).toBe("9000000000");
  expect(await balance()).toBe("9010000000");
  expect((await cli("verify")).code).toBe(0);
});

test("an order above the largest charge is refused, though the balance would suffice", async () => {
  const { order, rechargeFully, balance } = newReseller();
  await rechargeFully();
  const first = await order("dear", 9);
  await rechargeFully();
  await cli("admin", "order", "cancel", String(first.body.order.orderId), "--yes");
  const refused = await order("dear", 10);
  expectError(
    refused,
    400,
    "quantity must be small enough to keep the charge at or below 9007199254.740991",
  );
  expectError(await order("dear", 19), 400, "Insufficient balance");
  expect(await balance()).toBe("18000000000");
});

type Step =
  | { do: "recharge" | "debit"; micros: number }
  | { do: "order"; service: "dear" | "cheap"; quantity: number }
  | { do: "refund"; which: number; remains: number | null };

const anyAmount = fc.oneof(
  fc.integer({ min: 1, max: AMOUNT_LIMIT_MICROS }),
  fc.integer({ min: 1, max: 1000 }),
);
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant("recharge" as const), micros: anyAmount }),
  fc.record({ do: fc.constant("debit" as const), micros: anyAmount }),
  fc.record({
    do: fc.constant("order" as const),
    service: fc.constant("dear" as const),
    quantity: fc.integer({ min: 1, max: 9 }),
  }),
  fc.record({
    do: fc.constant("order" as const),
    service: fc.constant("cheap" as const),
    quantity: fc.integer({ min: 1, max: 1_000_000_000 }),
  }),
  fc.record({
    do: fc.constant("refund" as const),
    which: fc.nat(20),
    remains: fc.option(fc.integer({ min: 0, max: 1_000_000_000 })),
  }),
);

interface Open {
  id: string;
  quantity: number;
  charge: bigint;
}

test("after any kind of transfer near 2^53, every response has the balance exact to the micro", async () => {
  const trade = async (steps: Step[]) => {
    const { username, call, order, recharge, rechargeFully, balance, balancesAfter } =
      newReseller();
    const open: Open[] = [];
    const history: bigint[] = [];
    let held = 0n;
    const moved = (micros: bigint) => {
      if (micros === 0n) return;
      held += micros;
      history.unshift(held);
    };
    const place = async (service: "dear" | "cheap", quantity: number) => {
      const charge = service === "dear" ? BigInt(quantity) * 10n ** 15n : BigInt(quantity);
      const answer = await order(service, quantity);
      expect(answer.status).toBe(charge <= held ? 200 : 400);
      if (charge > held) return;
      expect(memberOf(answer, "charge")).toBe(formatMicros(charge));
      open.push({ id: answer.body.order.id, quantity, charge });
      moved(-charge);
    };
    const refund = (index: number, remains: number | null) => {
      const [found] = open.splice(index % open.length, 1);
      const { id, quantity, charge } = found!;
      const part = remains === null ? quantity : remains % (quantity + 1);
      const to = remains === null ? "CANCELLED" : "PARTIAL";
      market.run("transitionOrder", { id, to, remains: part, note: null, actor: OPERATOR });
      moved((charge * BigInt(part)) / BigInt(quantity));
    };
    const step = async (next: Step) => {
      if (next.do === "order") return place(next.service, next.quantity);
      if (next.do === "refund") return open.length > 0 && refund(next.which, next.remains);
      const { micros } = next;
      if (next.do === "debit") {
        if (BigInt(micros) > held) return;
        market.run("debitUser", { username, amountMicros: micros, note: null, actor: OPERATOR });
        return moved(-BigInt(micros));
      }
      const answer = await recharge(micros);
      const fits = held + BigInt(micros) <= BALANCE_LIMIT_MICROS;
      expect(answer.status).toBe(fits ? 200 : 400);
      if (!fits) return;
      expect(memberOf(answer, "previousBalance")).toBe(formatMicros(held));
      moved(BigInt(micros));
      expect(memberOf(answer, "balance")).toBe(formatMicros(held));
    };

    // To 18,000,000,000 USD, or a little less, and from there on where the steps lead.
    await rechargeFully();
    for (let times = 1; times <= 9; times++) moved(BigInt(AMOUNT_LIMIT_MICROS));
    await place("dear", 9);
    await rechargeFully();
    for (let times = 1; times <= 9; times++) moved(BigInt(AMOUNT_LIMIT_MICROS));
    refund(0, null);
    await place("cheap", 1);
    for (const next of steps) {
      await step(next);
      expect(await balance()).toBe(formatMicros(held));
    }
    const user = await call("GET", `/user?username=${username}`);
    expect(memberOf(user, "balance")).toBe(formatMicros(held));
    expect(await balancesAfter()).toEqual(history.map(formatMicros));
    const page = await call("GET", "/transactions?limit=100");
    expect([...page.text.matchAll(/"balanceAfter":([0-9.]+),/g)].map(([, text]) => text!)).toEqual(
      history.slice(0, 100).map(formatMicros),
    );
    const shown = await cli("admin", "user", "show", username, "--json");
    expect(memberOf({ text: shown.stdout }, "balance")).toBe(formatMicros(held));
  };
  const anyTrade = fc.array(anyStep, { minLength: 5, maxLength: 30 });
  await fc.assert(fc.asyncProperty(anyTrade, trade), { numRuns: 15 });
  expect((await cli("verify")).code).toBe(0);
});
