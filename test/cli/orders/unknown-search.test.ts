// `admin order settle --provider`: the search for unknown orders, and the settlement of many at once.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { numbersBy } from "../../../src/db/ledger/number-floors.ts";
import { runWithInput } from "../../support/operator-cli.ts";
import { startUpstream, PROVIDER_KEY, type Upstream, json } from "../../support/peers/upstream.ts";
import { HOUR_MS, type Night, openNight } from "../../support/seeds/bad-night.ts";
import { openShop, type Shop } from "../../support/worlds/shop.ts";
import { sampledOnPostgres } from "../../support/databases/engine-samples.ts";

let upstream: Upstream;
beforeAll(async () => (upstream = await startUpstream()));
afterAll(() => upstream.stop());

let night: Night<Shop>;
/** Ten hours ago. */
let begin: number;
beforeEach(() => {
  begin = Date.now() - 10 * HOUR_MS;
  upstream.received.length = 0;
  upstream.always("status", null);
  night = openNight(openShop(), upstream);
});

const settle = (...argv: string[]) => night.shop.cli("admin", "order", "settle", ...argv);
const search = (...argv: string[]) => settle("--provider", "acme", ...argv);

/** The verdict of each order by its number, with the number at the provider of those that were likely sent. */
async function verdicts(...argv: string[]): Promise<Record<string, string>> {
  const { json: found } = await search("--dry-run", "--json", ...argv);
  return Object.fromEntries(
    found.orders.map((each: Record<string, string>) => [
      each["orderId"],
      each["providerOrder"] ?? each["verdict"],
    ]),
  );
}

async function evidenceOf(orderId: number, ...argv: string[]): Promise<string> {
  const { json: found } = await search("--dry-run", "--json", ...argv);
  const row = found.orders.find((each: { orderId: number }) => each.orderId === orderId);
  return row.evidence.join("; ");
}

/** Order 1 accepted as 100, then one that arrived, one that did not, two that only one number fits; 200 is the last. */
function seedNight() {
  night.accepted(begin, 100);
  const sent = night.unknown(begin + HOUR_MS, 100, 103);
  night.accepted(begin + 2 * HOUR_MS, 110);
  const lost = night.unknown(begin + 3 * HOUR_MS, 300);
  night.accepted(begin + 4 * HOUR_MS, 120);
  const [one, other] = [
    night.unknown(begin + 5 * HOUR_MS, 70, 125),
    night.unknown(begin + 5 * HOUR_MS, 70),
  ];
  night.accepted(begin + 6 * HOUR_MS, 130);
  return { sent, lost, one, other };
}

describe("a dry run", () => {
  test("shows what was likely sent, likely not sent and unclear, with the evidence, and changes nothing", async () => {
    const { sent, lost, one, other } = seedNight();
    const before = night.shop.dump();
    const { code, json: found } = await search("--dry-run", "--json");
    expect(code).toBe(0);
    expect(found).toMatchObject({ provider: "acme", failure: null });
    expect(found.orders).toMatchObject([
      {
        orderId: sent,
        username: "alice",
        service: "likes",
        quantity: 100,
        charge: 0.4,
        verdict: "sent",
        providerOrder: "103",
        candidates: [
          { providerOrder: "103", fit: "fits", status: "Pending", charge: "0.27819", remains: 100 },
        ],
      },
      { orderId: lost, verdict: "not_sent", providerOrder: null, candidates: [] },
      { orderId: one, verdict: "unclear", candidates: [{ providerOrder: "125" }] },
      { orderId: other, verdict: "unclear", candidates: [{ providerOrder: "125" }] },
    ]);
    const [first, second, third] = found.orders.map((each: { evidence: string[] }) =>
      each.evidence.join("; "),
    );
    expect(first).toContain("103 is Pending, charge 0.27819 USD, remains 100");
    expect(second).toContain("all 9 numbers between 110 (order 3,");
    expect(third).toContain(
      `125 is Pending, charge 0.19473 USD, remains 70: fits; it may also be order ${other}`,
    );
    expect(night.shop.dump()).toBe(before);
    expect(new Set(upstream.received.map(({ action }) => action))).toEqual(
      new Set(["status", "balance"]),
    );
  });

  test("prints a table for a person, and what to do with unclear orders", async () => {
    const { sent, one } = seedNight();
    const { stdout, stderr } = await search("--dry-run");
    const lines = stdout.split("\n");
    expect(lines[0]).toMatch(/^ORDER +LIKELY +USER +QUANTITY +CHARGE USD +AGE +EVIDENCE$/);
    expect(stdout).toMatch(new RegExp(`^ +${sent} +sent as 103 +alice +100 +0.40 `, "m"));
    expect(stdout).toMatch(/ not sent +alice +300 +1.20 /);
    expect(stdout).toMatch(new RegExp(`^ +${one} +unclear `, "m"));
    expect(stdout).toContain("all 9 numbers between 110");
    // The rest of what supports a likely finding is in --json.
    expect(stdout).not.toContain("no other order of ours fits 103");
    expect(stderr).toContain(
      "4 unknown orders at acme: 1 likely sent, 1 likely not sent, 2 unclear; it was asked about ",
    );
    expect(stderr).toContain("2 orders unclear: look up the link at acme");
    expect(stderr).toEndWith(
      "nothing was changed: without --dry-run the likely ones are settled, after a confirmation\n",
    );
  });

  test("shows only orders of the time window, though all others count as evidence", async () => {
    const { lost, one, other } = seedNight();
    const since = (ms: number) => new Date(begin + ms).toISOString();
    expect(await verdicts("--since", since(3 * HOUR_MS), "--until", since(4 * HOUR_MS))).toEqual({
      [lost]: "not_sent",
    });
    expect(await verdicts("--since", since(5 * HOUR_MS))).toEqual({
      [one]: "unclear",
      [other]: "unclear",
    });
  });

  test("shows our balance before and after, beside what the orders would cost", async () => {
    const { shop } = night;
    const balance = (amount: number, at: number) =>
      shop.execute(
        "recordProviderBalance",
        { providerId: 1, balance: amount, currency: "USD" },
        at,
      );
    const told = async () => (await search("--dry-run", "--json")).json.balance.join("; ");
    balance(100.5, begin - 1000);
    const { sent } = seedNight();
    // 100, 70 and 70 units, and 300 that were not sent; the provider's answer is the balance now.
    expect(await told()).toMatch(
      /^our balance there before them was 100\.5 USD \(.*\); our balance there after them was 100\.84292 USD \(.*\); it rose by 0\.34292, with at least 4 other orders of ours in between; by the provider's rates all of them cost 1\.502226, and those likely sent 0\.27819$/,
    );
    balance(100.5, begin + HOUR_MS);
    balance(97.25, begin + 7 * HOUR_MS);
    balance(90, begin + 8 * HOUR_MS);
    expect(await told()).toContain("our balance there after them was 97.25 USD");
    expect(await told()).toContain("it fell by 3.25, with at least 4 other orders");
    expect(upstream.received.filter(({ action }) => action === "balance").length).toBe(1);
    await settle(String(sent), "--placed", "103");
    const { stderr } = await search("--dry-run");
    expect(stderr).toContain("those likely sent 0\n");
  });

  test("works for a paused provider, and for one without unknown orders", async () => {
    expect((await search("--dry-run")).stdout).toBe("no unknown orders at acme\n");
    expect(upstream.received).toEqual([]);
    const { sent } = seedNight();
    await night.shop.cli("admin", "provider", "pause", "acme");
    expect(await verdicts()).toMatchObject({ [sent]: "103" });
  });
});

describe("settling many", () => {
  test("ends with what was settled and refunded", async () => {
    seedNight();
    const { code, stdout, stderr } = await search("--yes");
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^ORDER +DONE +STATUS /m)]);
    expect(stderr).not.toContain("nothing was changed");
    expect(stderr).toEndWith("2 orders settled: 1 as sent, 1 as not sent, 1.2 USD refunded\n");
  });

  test("settles the likely ones after a confirmation only, exactly as one by one, and nothing the second time", async () => {
    const { sent, lost, one, other } = seedNight();
    const before = night.shop.dump();
    const asked = await search();
    expect(asked.code).toBe(2);
    expect(asked.stderr).toContain(
      "settle 1 order as sent and 1 as not sent, with a refund of 1.2 USD needs confirmation",
    );
    expect(night.shop.dump()).toBe(before);
    const balance = night.shop.balance("alice");
    const { code, json: outcomes } = await search("--yes", "--json");
    expect(code).toBe(0);
    expect(outcomes).toMatchObject([
      { done: true, order: { orderId: sent, status: "PROCESSING", providerOrder: "103" } },
      {
        done: true,
        order: { orderId: lost, status: "FAILED", placement: "refused", refunded: 1.2 },
      },
    ]);
    expect(night.shop.balance("alice") - balance).toBe(1_200_000);
    const after = night.shop.dump();
    const again = await search("--yes", "--json");
    expect([again.code, again.json]).toEqual([0, []]);
    expect(night.shop.dump()).toBe(after);
    expect(Object.keys(await verdicts())).toEqual([String(one), String(other)]);
  });

  test("settles 200 unknown orders in one go with exact money, and nothing the second time", async () => {
    night.accepted(begin, 1000);
    let refunded = 0;
    const numbers = new Map<number, string>();
    for (let index = 0; index < 200; index++) {
      const isSent = index % 5 < 3;
      const quantity = 1001 + index;
      const number = isSent ? 1001 + index : undefined;
      const orderId = night.unknown(begin + HOUR_MS + index * 10, quantity, number);
      numbers.set(orderId, isSent ? String(number) : "not_sent");
      if (!isSent) refunded += quantity * 4000;
    }
    night.accepted(begin + 2 * HOUR_MS, 1250);
    expect(await verdicts()).toEqual(Object.fromEntries(numbers));
    const balance = night.shop.balance("alice");
    const { code, json: outcomes } = await search("--yes", "--json");
    expect([code, outcomes.length]).toEqual([0, 200]);
    expect(night.shop.balance("alice") - balance).toBe(refunded);
    const rows = night.shop.query<{ id: number; number: string | null; status: string }>(
      "SELECT order_id AS id, provider_order AS number, status FROM orders WHERE quantity > 1000",
    );
    for (const { id, number, status } of rows) {
      expect([id, number ?? "not_sent"]).toEqual([id, numbers.get(Number(id))!]);
      expect(status).toBe(number === null ? "FAILED" : "PROCESSING");
    }
    const after = night.shop.dump();
    expect((await search("--yes", "--json")).json).toEqual([]);
    expect(night.shop.dump()).toBe(after);
  }, 120_000);

  test("by two operators at once settles each order once", async () => {
    night.accepted(begin, 1000);
    for (let index = 0; index < 20; index++) {
      night.unknown(begin + HOUR_MS, 500 + index, index % 2 === 0 ? 1001 + index : undefined);
    }
    night.accepted(begin + 2 * HOUR_MS, 1030);
    const argv = ["admin", "order", "settle", "--provider", "acme", "--yes", "--json"];
    const both = await Promise.all([1, 2].map(() => runWithInput("", night.shop, argv)));
    const done = both.flatMap(({ stdout }) =>
      JSON.parse(stdout || "[]").filter((each: { done: boolean }) => each.done),
    );
    expect(done.length).toBe(20);
    const events = night.shop.query<{ count: number }>(
      "SELECT count(*) AS count FROM order_events WHERE note LIKE 'settled:%' GROUP BY order_id",
    );
    expect(events.map(({ count }) => Number(count))).toEqual(Array(20).fill(1));
    const refunds = night.shop.query("SELECT 1 FROM transfers WHERE kind = 'refund'");
    expect(refunds.length).toBe(10);
    const { code } = await night.shop.cli("verify");
    expect(code).toBe(0);
  }, 60_000);

  test.each([
    [["--provider", "acme", "12"], "give neither orders"],
    [["--provider", "acme", "--not-placed"], "give neither orders"],
    [["--provider", "acme", "--placed", "5"], "give neither orders"],
    [["--provider", "acme", "--no-check"], "give neither orders"],
    [["12", "--not-placed", "--dry-run"], "are for --provider"],
    [["12", "--not-placed", "--since", "1h"], "are for --provider"],
    [["12", "--not-placed", "--nearby", "5"], "are for --provider"],
    [["--dry-run"], "give the orders, or --provider"],
    [["--provider", "acme", "--nearby", "0"], "must be a whole number from 1 to 5000"],
    [["--provider", "acme", "--nearby", "5001"], "must be a whole number from 1 to 5000"],
  ])("refuses %j as wrong usage and asks nobody", async (argv, says) => {
    seedNight();
    const before = night.shop.dump();
    const { code, stderr } = await settle(...argv);
    expect([code, stderr]).toEqual([2, expect.stringContaining(says)]);
    expect(night.shop.dump()).toBe(before);
    expect(upstream.received).toEqual([]);
  });
});

describe("an order is unclear", () => {
  /** One order that did not arrive, between 100 and 110. */
  function seedLost(): number {
    night.accepted(begin, 100);
    const lost = night.unknown(begin + HOUR_MS, 300);
    night.accepted(begin + 2 * HOUR_MS, 110);
    return lost;
  }

  test("unless every number was asked about", async () => {
    const lost = seedLost();
    expect(await verdicts("--nearby", "9")).toEqual({ [lost]: "not_sent" });
    expect(await verdicts("--nearby", "8")).toEqual({ [lost]: "unclear" });
    expect(await evidenceOf(lost, "--nearby", "8")).toContain("only 8 of 9 numbers were asked");
  });

  test("when the account no longer knows our orders around it", async () => {
    const lost = seedLost();
    upstream.book.clear();
    expect(await verdicts()).toEqual({ [lost]: "unclear" });
    expect(await evidenceOf(lost)).toContain("it does not answer for 100, the number of order 1");
  });

  test("while no order was accepted late enough after it", async () => {
    night.accepted(begin, 100);
    const lost = night.unknown(begin + HOUR_MS, 300);
    night.accepted(begin + HOUR_MS + 4 * 60_000, 110);
    expect(await verdicts()).toEqual({ [lost]: "unclear" });
    expect(await evidenceOf(lost)).toContain("search again when one has");
    night.accepted(begin + 2 * HOUR_MS, 111);
    expect(await verdicts()).toEqual({ [lost]: "not_sent" });
  });

  test("when a number fits an order that was settled as not placed before, or is being sent", async () => {
    night.accepted(begin, 100);
    const [first, second] = [
      night.unknown(begin + HOUR_MS, 300, 105),
      night.unknown(begin + HOUR_MS, 300),
    ];
    night.accepted(begin + 2 * HOUR_MS, 110);
    await settle(String(first), "--not-placed");
    expect(await evidenceOf(second)).toContain(`order ${first}, which was settled as not placed`);
    const third = night.unknown(begin + 3 * HOUR_MS, 400, 115);
    const sending = night.sending(begin + 3 * HOUR_MS, 400);
    night.accepted(begin + 4 * HOUR_MS, 120);
    expect(await verdicts()).toEqual({ [second]: "unclear", [third]: "unclear" });
    expect(await evidenceOf(third)).toContain(`order ${sending}, which is being sent`);
  });

  test("when another provider of ours is the same account and its order has the number", async () => {
    const { shop } = night;
    night.accepted(begin, 100);
    const unknown = night.unknown(begin + HOUR_MS, 300, 105);
    night.accepted(begin + 2 * HOUR_MS, 110);
    expect(await verdicts()).toEqual({ [unknown]: "105" });
    const url = `${upstream.url}/`;
    shop.run("createProvider", { name: "twin", protocol: "smm-api", url, key: PROVIDER_KEY });
    shop.service({ id: "twin-likes", provider: { name: "twin", service: "7" } });
    night.accepted(begin + HOUR_MS, 105, 300, "twin-likes");
    expect(await verdicts()).toEqual({ [unknown]: "not_sent" });
  });

  test("when an order at another provider of ours at the same host is unknown too and fits", async () => {
    const { shop } = night;
    const { url } = upstream;
    shop.run("createProvider", { name: "twin", protocol: "smm-api", url, key: "an-older-key" });
    shop.service({ id: "twin-likes", provider: { name: "twin", service: "7" } });
    shop.query(
      `INSERT INTO provider_rates (provider_id, provider_service, after_order, rate, unit, dripfeed, created_at)
      SELECT provider_id, '7', 0, '2.7819', '1000', 0, 1 FROM providers WHERE name = 'twin'`,
    );
    night.accepted(begin, 100);
    const unknown = night.unknown(begin + HOUR_MS, 300, 105);
    const twin = night.queued(begin + HOUR_MS, 300, "twin-likes");
    expect(await verdicts()).toEqual({ [unknown]: "105" });
    shop.attempt(twin, { outcome: "unknown", cause: "no answer" });
    expect(await evidenceOf(unknown)).toContain(
      `it may also be order ${twin}, which is unknown too`,
    );
  });

  test("when its only number was settled as another order, which may have been wrong", async () => {
    night.accepted(begin, 100);
    const first = night.unknown(begin + HOUR_MS, 300, 105);
    const second = night.unknown(begin + HOUR_MS, 300);
    night.accepted(begin + 2 * HOUR_MS, 110);
    await settle(String(first), "--placed", "105");
    expect(await evidenceOf(second)).toContain(`105 may fit too, but order ${first} was settled`);
    expect(await verdicts()).toEqual({ [second]: "unclear" });
  });

  test("when an order that is accepted while the provider is asked has the number", async () => {
    night.accepted(begin, 100);
    const unknown = night.unknown(begin + HOUR_MS, 300);
    const { promise: answers, resolve } = Promise.withResolvers<void>();
    upstream.holds("status", answers);
    const searching = verdicts();
    while (upstream.received.length === 0) await Bun.sleep(1);
    night.accepted(begin + 2 * HOUR_MS, 101, 300);
    resolve();
    upstream.holds("status", Promise.resolve());
    expect(await searching).toEqual({ [unknown]: "unclear" });
  });

  test("after a restore, because orders may be missing here", async () => {
    night.accepted(begin, 100);
    const unknown = night.unknown(begin + HOUR_MS, 300, 105);
    night.accepted(begin + 2 * HOUR_MS, 110);
    const orderId = night.queued(begin + 3 * HOUR_MS, 7);
    night.shop.run("carryOver", { floors: numbersBy(() => 1), endedKeys: [] });
    expect(await verdicts()).toEqual({ [unknown]: "unclear", [orderId]: "unclear" });
    expect(await evidenceOf(unknown)).toContain("restored from a backup");
  });

  const REPLIES = {
    "no JSON": { body: "<html>challenge</html>" },
    "HTTP 500": { status: 500, body: "{}" },
    "a wrong key": json({ error: "Invalid API key" }),
    "a limit": { status: 429, body: "" },
    "an error about orders that says nothing": json({ error: "Too many order requests" }),
    "an empty object": json({}),
  };
  test.each(sampledOnPostgres(Object.keys(REPLIES) as (keyof typeof REPLIES)[], 3))(
    "when the provider replies %s, and nothing is settled",
    async (name) => {
      seedLost();
      upstream.always("status", REPLIES[name]);
      const before = night.shop.dump();
      const { code, stdout } = await search("--yes", "--json");
      expect([0, 1]).toContain(code);
      expect(stdout.trim() === "" || stdout.trim() === "[]").toBeTrue();
      expect(night.shop.dump()).toBe(before);
      expect(upstream.received.length).toBeLessThan(20);
    },
  );

  test("when the reply omits numbers, until the provider denies each of them", async () => {
    const lost = seedLost();
    const ends = {
      "100": upstream.book.get("100")!.status,
      "110": upstream.book.get("110")!.status,
    };
    upstream.next("status", json(ends));
    expect(await verdicts()).toEqual({ [lost]: "not_sent" });
    expect(upstream.received.filter(({ order }) => order !== undefined).length).toBe(9);
    upstream.next(
      "status",
      json(ends),
      ...Array.from({ length: 9 }, () => json({ error: "order" })),
    );
    expect(await verdicts()).toEqual({ [lost]: "unclear" });
  });
});
