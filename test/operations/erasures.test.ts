// Erasure of personal data: what goes, what stays, and that triggers allow no more.

import { describe, expect, test } from "bun:test";
import { findUser } from "../../src/db/users.ts";
import { eraseWholly } from "../../src/operations/erasures.ts";
import { openProviderShop } from "../support/provider-shop.ts";
import type { Shop } from "../support/cli.ts";
import { refusalCode } from "../support/refusal.ts";
import type { Upstream } from "../support/upstream.ts";
import { verifyStore } from "../support/verify.ts";

const SECRET = "Erika";
const LINK = `https://example.com/${SECRET}`;

/** alice, whose every text names her, with an order that a provider refused and one by hand; her child kid. */
async function openStory(): Promise<Shop> {
  const shop = openProviderShop({ url: "http://127.0.0.1:9" } as Upstream);
  shop.run("updateUser", {
    username: "alice",
    changes: { username: SECRET, name: `${SECRET} Ltd` },
  });
  shop.run("createUser", { username: "cora", name: "Cora", parent: SECRET });
  shop.run("creditUser", { username: SECRET, amountMicros: 5, note: `of ${SECRET}` });
  const { id: keyId, text } = shop.key(SECRET, "full");
  expect(text).toStartWith("rk_");
  shop.run("updateKey", { id: keyId, changes: { label: SECRET, allow: "10.0.0.0/8" } });
  shop.run("recordKeyUsage", { uses: [{ id: keyId, usedAt: 1, address: "10.9.8.7" }] });
  const { account } = shop.read((reader) => findUser(reader, SECRET))!;
  const order = { resellerAccount: account, keyId, service: "followers", link: LINK, quantity: 10 };
  const byHand = shop.run("placeOrder", { ...order, reference: SECRET }).orderId;
  const input = { ...order, service: "likes" };
  shop.service({ id: "likes", provider: { name: "acme", service: "7" } });
  const { orderId } = shop.run("placeOrder", input);
  const started = shop.run("startAttempt", {
    orderId,
    providerId: 1,
    server: "test",
    placeRetryMs: 1,
  });
  const { attemptId } = started as { attemptId: number };
  const result = { outcome: "refused", cause: `not ${LINK}`, outOfFunds: false } as const;
  shop.run("finishAttempt", { orderId, attemptId, result, placeRetryMs: 1, backoffMs: 1 });
  shop.run("noteOrder", { id: String(byHand), note: `ask ${SECRET}` });
  shop.run("transitionOrder", {
    id: String(byHand),
    to: "COMPLETED",
    note: `for ${SECRET}`,
  });
  shop.run("setUserActive", { username: SECRET, active: false });
  return shop;
}

const erase = (shop: Shop, username = SECRET) =>
  eraseWholly({
    user: () => shop.run("eraseUser", { username, reason: "asked for" }),
    piece: (piece) => shop.run("eraseHistory", { ...piece, limit: 1 }),
  });

test("nothing personal is left in any table, the ledger adds up, and the history says what was erased", async () => {
  const shop = await openStory();
  const sums = () => [
    shop.query("SELECT seq, debit_account, credit_account, amount_micros, kind FROM transfers ORDER BY seq"),
    shop.query("SELECT order_id, quantity, charge_micros, status, created_at FROM orders ORDER BY order_id"),
    shop.query("SELECT account, balance_micros, deposited_micros FROM users ORDER BY account"),
    shop.query("SELECT seq, created_at, operator, action, account FROM audit WHERE action <> 'user.erase' ORDER BY seq"),
  ]; // prettier-ignore
  const before = sums();
  expect(shop.dump()).toContain(SECRET);
  const { username, rows } = await erase(shop);
  expect(rows).toBeGreaterThan(5);
  const dump = shop.dump().replaceAll("erased", "");
  for (const text of [SECRET, "10.9.8.7", "10.0.0.0/8"]) expect(dump).not.toContain(text);
  expect(sums()).toEqual(before);
  expect(await verifyStore(shop)).toEqual([]);
  const [made] = shop.query<{ after: string }>(
    "SELECT after FROM audit WHERE action = 'user.create' AND subject = 'cora'",
  );
  expect(JSON.parse(made!.after)).toMatchObject({ name: "Cora", parent: username });
});

test("interrupted anywhere, it is completed by the same command", async () => {
  const shop = await openStory();
  for (const pieces of [0, 3, 8]) {
    let left = pieces;
    const broken = eraseWholly({
      user: () => shop.run("eraseUser", { username: nameOf(shop), reason: "asked for" }),
      piece: (piece) => {
        if (left === 0) throw new Error("killed");
        left -= 1;
        return shop.run("eraseHistory", { ...piece, limit: 1 });
      },
    });
    expect(await broken.catch((error: Error) => error.message)).toBe("killed");
  }
  await erase(shop, nameOf(shop));
  expect(shop.dump()).not.toContain(SECRET);
  expect(shop.query("SELECT seq FROM audit WHERE action = 'user.erase'")).toHaveLength(1);
});

function nameOf(shop: Shop): string {
  const [row] = shop.query<{ username: string }>(
    `SELECT username FROM users WHERE username = '${SECRET}' OR username LIKE 'erased-%'`,
  );
  return row!.username;
}

describe("is refused, and nothing changes:", () => {
  test.each<[what: string, code: string, prepare: (shop: Shop) => void]>([
    ["an active reseller", "user_active", (shop) => void shop.run("setUserActive", { username: SECRET, active: true })],
    ["a user with an open order", "user_has_open_orders", (shop) => {
      shop.run("setUserActive", { username: SECRET, active: true });
      const { account } = shop.read((reader) => findUser(reader, SECRET))!;
      const { id: keyId } = shop.key(SECRET, "full");
      shop.run("placeOrder", { resellerAccount: account, keyId, service: "followers", link: "x", quantity: 10 });
      shop.run("setUserActive", { username: SECRET, active: false });
    }],
  ])("%s", async (_, code, prepare) => {
    const shop = await openStory();
    prepare(shop);
    const before = shop.dump();
    const refused = refusalCode(() => shop.run("eraseUser", { username: SECRET, reason: "r" }));
    expect(String(refused)).toBe(code);
    const { account } = shop.read((reader) => findUser(reader, SECRET))!;
    const piece = { account, step: 0, after: 0, limit: 9 };
    expect(refusalCode(() => shop.run("eraseHistory", piece))).toBe("user_active");
    expect(shop.dump()).toBe(before);
  }); // prettier-ignore
});

const CHANGES: [what: string, text: string][] = [
  ["another link", "UPDATE orders SET link = 'x'"],
  ["an erased link", "UPDATE orders SET link = 'erased'"],
  ["no reference", "UPDATE orders SET reference = NULL WHERE reference IS NOT NULL"],
  ["no note of a transfer", "UPDATE transfers SET note = NULL WHERE note IS NOT NULL"],
  ["no note of an event", "UPDATE order_events SET note = NULL WHERE note IS NOT NULL"],
  ["no cause of an attempt", "UPDATE placement_attempts SET cause = NULL WHERE cause IS NOT NULL"],
  ["another audit entry", "UPDATE audit SET subject = 'x' WHERE account IS NOT NULL"],
];
test.each(CHANGES)(
  "of a user that was not erased a row takes %s by no statement",
  async (_, text) => {
    const shop = await openStory();
    expect(() => shop.query(text)).toThrow();
  },
);

const MORE: [what: string, text: string][] = [
  ["another link", "UPDATE orders SET link = 'x'"],
  ["another reference", "UPDATE orders SET reference = 'x'"],
  ["another quantity", "UPDATE orders SET quantity = quantity + 1"],
  ["another amount", "UPDATE transfers SET note = NULL, amount_micros = amount_micros + 1"],
  ["a new note of a transfer", "UPDATE transfers SET note = 'x'"],
  ["another state of an event", "UPDATE order_events SET note = NULL, to_status = 'FAILED'"],
  ["another outcome", "UPDATE placement_attempts SET cause = NULL, outcome = 'accepted'"],
  ["another author", "UPDATE audit SET operator = 'x'"],
  ["a name", "UPDATE users SET name = 'x' WHERE erased_at IS NOT NULL"],
  ["no time of its erasure", "UPDATE users SET erased_at = NULL WHERE erased_at IS NOT NULL"],
];
test.each(MORE)("of an erased user a row takes %s by no statement", async (_, text) => {
  const shop = await openStory();
  await erase(shop);
  expect(() => shop.query(text)).toThrow();
});

test("an order of another user keeps its link beside the erasure", async () => {
  const shop = await openStory();
  const { account } = shop.read((reader) => findUser(reader, "bob"))!;
  shop.run("creditUser", { username: "bob", amountMicros: 1_000_000, note: "bob's" });
  const { id: keyId } = shop.key("bob", "full");
  const order = {
    resellerAccount: account,
    keyId,
    service: "followers",
    link: "bobs",
    quantity: 10,
  };
  const { orderId } = shop.run("placeOrder", order);
  shop.run("transitionOrder", { id: String(orderId), to: "COMPLETED", note: null });
  await erase(shop);
  expect(shop.query("SELECT link FROM orders WHERE order_id = ?", orderId)).toEqual([
    { link: "bobs" },
  ]);
  expect(shop.query("SELECT note FROM transfers WHERE note IS NOT NULL")).toContainEqual({
    note: "bob's",
  });
});
