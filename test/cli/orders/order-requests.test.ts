// `admin request …` and the flags of services that say which requests are taken.

import { beforeAll, describe, expect, test } from "bun:test";
import { openShop } from "../../support/worlds/shop.ts";

const shop = openShop();
let keyId: string;

beforeAll(() => {
  keyId = shop.key("alice", "order").id;
  shop.run("updateService", { id: "followers", changes: { cancel: true, refill: true } });
});

const ask = (orderId: number, kind: "cancel" | "refill" = "cancel") => {
  const [row] = shop.query<{ account: number }>(
    "SELECT reseller_account AS account FROM keys WHERE id = ?",
    keyId,
  );
  const of = { resellerAccount: row!.account, keyId, kind, id: String(orderId) };
  return shop.run("makeRequest", of);
};

const json = async (...argv: string[]) => {
  const { code, json: result, stderr } = await shop.cli("admin", ...argv, "--json");
  expect([code, stderr]).toEqual([0, ""]);
  return result;
};

describe("request", () => {
  test("list --open prints undecided requests, newest first, and list prints all", async () => {
    const [first, second] = [ask(shop.order(100)), ask(shop.order(100))];
    const open = await json("request", "list", "--open");
    expect(open.map(({ number }: { number: number }) => number)).toEqual([
      second.requestId,
      first.requestId,
    ]);
    expect(open[1]).toEqual({
      id: first.id,
      number: first.requestId,
      kind: "cancel",
      state: "requested",
      unknown: false,
      orderId: first.orderId,
      status: "PROCESSING",
      username: "alice",
      service: expect.any(String),
      provider: null,
      providerRefill: null,
      note: null,
      createdAt: expect.stringMatching(/Z$/),
    });
    await json("request", "decline", first.id, "--note", "delivered already");
    expect(await json("request", "list", "--open")).toHaveLength(1);
    const of = ["--order", String(first.orderId)];
    expect(await json("request", "list", ...of)).toMatchObject([
      { state: "declined", note: "delivered already" },
    ]);
    expect(await json("request", "list", "--limit", "1", "--cursor", String(second.requestId)))
      .toMatchObject([{ number: first.requestId }]); // prettier-ignore
    expect(await json("request", "list", "--kind", "refill")).toEqual([]);
  });

  test("approve cancels an order that is delivered by hand and refunds it, once", async () => {
    const orderId = shop.order(100);
    const { requestId } = ask(orderId);
    const before = shop.balance("alice");
    const approved = await json("request", "approve", String(requestId));
    expect(approved).toMatchObject({ state: "done", status: "CANCELLED" });
    expect(shop.balance("alice")).toBeGreaterThan(before);
    const after = shop.balance("alice");
    const again = await shop.cli("admin", "request", "approve", String(requestId));
    expect([again.code, shop.balance("alice")]).toEqual([1, after]);
    expect(again.stderr).toContain("reseller admin request list");
  });

  test("approve and complete take a refill to its end, and move nothing else", async () => {
    const orderId = shop.order(100);
    await shop.cli("admin", "order", "complete", String(orderId));
    const { id } = ask(orderId, "refill");
    const before = shop.fingerprint();
    expect(await json("request", "approve", id)).toMatchObject({ state: "accepted" });
    expect(await json("request", "complete", id)).toMatchObject({ state: "done" });
    expect(shop.fingerprint()).toBe(before);
    const { json: shown } = await shop.cli("admin", "order", "show", String(orderId), "--json");
    expect(shown.timeline.map(({ what, to }: Record<string, string>) => `${what} ${to}`)).toEqual([
      "status COMPLETED",
      "request refill",
      "request refill done",
    ]);
  });

  test("a request that does not exist is refused, and wrong usage is exit 2", async () => {
    expect((await shop.cli("admin", "request", "approve", "4711")).code).toBe(1);
    expect((await shop.cli("admin", "request", "list", "--order", "4711")).code).toBe(1);
    expect((await shop.cli("admin", "request", "list", "--kind", "other")).code).toBe(2);
    expect((await shop.cli("admin", "request", "approve")).code).toBe(2);
  });
});

describe("service", () => {
  const terms = ["--name", "N", "--price", "1", "--min", "1", "--max", "2"];

  test("create and update set the flags, and --no- clears them", async () => {
    const made = await json(
      "service",
      "create",
      ...terms,
      "--cancel",
      "--refill",
      "--refill-days",
      "7",
    );
    expect(made).toMatchObject({ cancel: true, refill: true, refillDays: 7 });
    const changed = await json("service", "update", made.id, "--no-cancel");
    expect(changed).toMatchObject({ cancel: false, refill: true, refillDays: 7 });
    expect(await json("service", "update", made.id, "--max", "3")).toMatchObject({
      cancel: false,
      refill: true,
    });
    const plain = await json("service", "create", ...terms);
    expect(plain).toMatchObject({ cancel: false, refill: false, refillDays: 30 });
    for (const days of ["0", "3651", "1.5", "x"]) {
      const { code } = await shop.cli("admin", "service", "update", made.id, "--refill-days", days);
      expect([days, code]).toEqual([days, 2]);
    }
  });
});
