// `admin order place`, `resend` and `link`: what each prints, and wrong usage. The rules are in test/operations/orders/operator-orders.test.ts.

import { expect, test } from "bun:test";
import { runConfirming } from "../../support/operator-cli.ts";
import { openShop } from "../../support/worlds/shop.ts";

const PLACE = ["admin", "order", "place", "alice", "followers", "--link", "https://example.com/me"];

test("an order for a reseller is printed as `order show` has it, and the balance pays for it", async () => {
  const shop = openShop();
  const before = shop.balance("alice");
  const { code, json } = await shop.cli(
    ...PLACE,
    "--quantity",
    "100",
    "--reference",
    "t1",
    "--json",
  );
  expect(code).toBe(0);
  expect(json).toMatchObject({
    username: "alice",
    status: "PROCESSING",
    charge: 0.232,
    reference: "t1",
  });
  expect(shop.balance("alice")).toBe(before - 232_000);
  const again = await shop.cli(...PLACE, "--quantity", "100", "--reference", "t1");
  expect([again.code, again.stderr]).toEqual([
    1,
    expect.stringContaining("reference was already used"),
  ]);
  expect(shop.balance("alice")).toBe(before - 232_000);
});

test.each([
  ["order place", [...PLACE.slice(2), "--quantity", "100"]],
  ["order resend", ["resend", "1", "--price", "now"]],
])(
  "%s: a price that changes while the operator is asked to confirm is refused, and nothing is charged",
  async (_, words) => {
    const shop = openShop();
    shop.order(100);
    await shop.cli("admin", "order", "fail", "1");
    const argv = ["admin", "order", ...words, "--confirm-above", "0"];
    let before = "";
    const refused = await runConfirming(shop, argv, () => {
      shop.run("updateService", { id: "followers", changes: { priceMicros: 4_640_000 } });
      before = shop.dump();
    });
    expect(refused).toEqual({
      code: 1,
      shown: expect.stringMatching(/charge alice 0\.232 USD[^]*the catalogue changed/i),
    });
    expect(shop.dump()).toBe(before);
    const balance = shop.balance("alice");
    const { code, shown } = await runConfirming(shop, argv, () => {});
    expect([code, shown]).toEqual([0, expect.stringContaining("charge alice 0.464 USD")]);
    expect(shop.balance("alice")).toBe(balance - 464_000);
  },
);

test("fields of the service's type are given by name, with several lines where it has several", async () => {
  const shop = openShop();
  shop.service({
    id: "words",
    name: "Words",
    price: "10",
    min: 1,
    max: 9,
    type: "custom_comments",
  });
  const words = ["admin", "order", "place", "alice", "words", "--link", "x"];
  const { json } = await shop.cli(...words, "--field", "comments=one\ntwo=2", "--json");
  expect(json).toMatchObject({ quantity: 2, comments: "one\ntwo=2" });
  for (const field of ["comment=one", "comments", "=x"]) {
    const wrong = await shop.cli(...words, "--field", field);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("NAME=TEXT")]);
  }
});

test("a failed order is sent again with a corrected link; both orders name each other", async () => {
  const shop = openShop();
  shop.order(100);
  await shop.cli("admin", "order", "fail", "1");
  const sent = await shop.cli(
    "admin",
    "order",
    "resend",
    "1",
    "--link",
    "https://example.com/right",
    "--json",
  );
  expect(sent.json).toMatchObject({ orderId: 2, charge: 0.232, link: "https://example.com/right" });
  const [old, fresh] = [
    await shop.cli("admin", "order", "show", "1", "--json"),
    await shop.cli("admin", "order", "show", "2", "--json"),
  ];
  expect(old.json).toMatchObject({ resends: null, resentAs: 2 });
  expect(fresh.json).toMatchObject({ resends: 1, resentAs: null });
  expect(fresh.stdout).toContain("placed again for order 1");
  const twice = await shop.cli("admin", "order", "resend", "1");
  expect([twice.code, twice.stderr]).toEqual([
    1,
    expect.stringContaining("order 1 was sent again as order 2"),
  ]);
});

test("a link is corrected until the order has ended, and the history has both", async () => {
  const shop = openShop();
  shop.order(100);
  const { json } = await shop.cli(
    "admin",
    "order",
    "link",
    "1",
    " https://example.com/right ",
    "--json",
  );
  expect(json).toMatchObject({ link: "https://example.com/right" });
  await shop.cli("admin", "order", "complete", "1");
  const late = await shop.cli("admin", "order", "link", "1", "x");
  expect([late.code, late.stderr]).toEqual([1, expect.stringContaining("the order is COMPLETED")]);
  expect((await shop.cli("admin", "order", "show", "1")).stdout).toContain(
    "https://example.com/right",
  );
  expect((await shop.cli("verify")).code).toBe(0);
});
