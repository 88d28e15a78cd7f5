// Erasure of personal data: what goes, what stays, and that triggers allow no more.

import { beforeAll, describe, expect, test } from "bun:test";
import { TABLES } from "../../../src/db/tables/tables.ts";
import { findUser } from "../../../src/db/users/users.ts";
import { eraseWholly } from "../../../src/operations/users/erasures.ts";
import { openShop, type Shop } from "../../support/worlds/shop.ts";
import { PERSONAL_COLUMNS, SECRET, seedPersonalData } from "./personal-data.ts";
import { refusalCode } from "../../support/http/refusal.ts";
import { verifyStore } from "../../support/databases/verify.ts";

const erase = (shop: Shop, username = SECRET) =>
  eraseWholly({
    user: () => shop.run("eraseUser", { username, reason: "asked for" }),
    piece: (piece) => shop.run("eraseHistory", { ...piece, limit: 1 }),
  });

/** Every column of every table that has the name in it, however it is written. */
function columnsWith(shop: Shop): string[] {
  const found = TABLES.flatMap(({ name }) =>
    shop
      .query(`SELECT * FROM ${name}`)
      .flatMap((row) => Object.entries(row as object))
      .filter(([, value]) => String(value).toLowerCase().includes(SECRET.toLowerCase()))
      .map(([column]) => `${name}.${column}`),
  );
  return [...new Set(found)].toSorted();
}

test("nothing personal is left in any table, the ledger adds up, and the history says what was erased", async () => {
  const shop = seedPersonalData(openShop());
  const sums = () => [
    shop.query("SELECT seq, debit_account, credit_account, amount_micros, kind FROM transfers ORDER BY seq"),
    shop.query("SELECT order_id, quantity, charge_micros, status, created_at FROM orders ORDER BY order_id"),
    shop.query("SELECT request_id, order_id, kind, state, provider_id, changed_at FROM order_requests ORDER BY request_id"),
    shop.query("SELECT seq, account FROM transfer_details ORDER BY seq"),
    shop.query("SELECT account, balance_micros, deposited_micros FROM users ORDER BY account"),
    shop.query("SELECT seq, created_at, operator, action, account FROM audit WHERE action <> 'user.erase' ORDER BY seq"),
  ]; // prettier-ignore
  const before = sums();
  expect(columnsWith(shop)).toEqual(PERSONAL_COLUMNS);
  const { username, rows } = await erase(shop);
  expect(rows).toBeGreaterThan(5);
  expect(columnsWith(shop)).toEqual([]);
  const dump = shop.dump();
  for (const text of ["10.9.8.7", "10.0.0.0/8"]) expect(dump).not.toContain(text);
  expect(sums()).toEqual(before);
  expect(await verifyStore(shop)).toEqual([]);
  const [made] = shop.query<{ after: string }>(
    "SELECT after FROM audit WHERE action = 'user.create' AND subject = 'cora'",
  );
  expect(JSON.parse(made!.after)).toMatchObject({ name: "Cora", parent: username });
});

test("orders with extra fields keep their numbers and their count of lines when they are erased", async () => {
  const shop = seedPersonalData(openShop());
  await erase(shop);
  const rows = shop.query<{ extra: string }>(
    "SELECT extra FROM orders WHERE extra IS NOT NULL ORDER BY order_id",
  );
  expect(rows.map(({ extra }) => JSON.parse(extra) as object)).toEqual([
    { type: "custom_comments", comments: "erased\nerased\nerased" },
    { type: "comment_replies", username: "erased", comments: "erased\nerased" },
    {
      type: "web_traffic",
      country: "erased",
      device: "erased",
      type_of_traffic: "erased",
      google_keyword: "",
      referring_url: "erased",
    },
    { type: "poll", answer_number: 3 },
    { type: "default", runs: 2, interval: 5 },
  ]);
});

test("an interrupted erasure is completed by the same command", async () => {
  const shop = seedPersonalData(openShop());
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
    ["a user with an open request", "user_has_open_requests", (shop) => {
      shop.run("setUserActive", { username: SECRET, active: true });
      const { account } = shop.read((reader) => findUser(reader, SECRET))!;
      const { id: keyId } = shop.key(SECRET, "full");
      const caller = { resellerAccount: account, keyId };
      const { orderId } = shop.run("placeOrder", { ...caller, service: "kept", link: "x", quantity: 10 });
      shop.run("transitionOrder", { id: String(orderId), to: "COMPLETED", note: null });
      shop.run("makeRequest", { ...caller, kind: "refill", id: String(orderId) });
      shop.run("setUserActive", { username: SECRET, active: false });
    }],
  ])("%s", async (_, code, prepare) => {
    const shop = seedPersonalData(openShop());
    prepare(shop);
    const before = shop.dump();
    const refused = refusalCode(() => shop.run("eraseUser", { username: SECRET, reason: "r" }));
    expect(String(refused)).toBe(code);
    const { account } = shop.read((reader) => findUser(reader, SECRET))!;
    const piece = { account, step: 0, after: 0, limit: 9 };
    expect(refusalCode(() => shop.run("eraseHistory", piece))).toBe("user_not_erased");
    expect(shop.dump()).toBe(before);
  }); // prettier-ignore
});

/** What triggers say: not an error of syntax, nor of another rule. */
const REFUSED = /keeps the terms|keeps its reference|append-only|kept$|stays erased/;

const CHANGES: [what: string, text: string][] = [
  ["another link", "UPDATE orders SET link = 'x'"],
  ["an erased link", "UPDATE orders SET link = 'erased'"],
  ["no reference", "UPDATE orders SET reference = NULL WHERE reference IS NOT NULL"],
  ["no note of a transfer", "UPDATE transfers SET note = NULL WHERE note IS NOT NULL"],
  ["no note of an event", "UPDATE order_events SET note = NULL WHERE note IS NOT NULL"],
  ["no cause of an attempt", "UPDATE attempts SET cause = NULL WHERE cause IS NOT NULL"],
  ["erased texts", `UPDATE orders SET extra = '{"type":"poll","answer_number":3}' WHERE extra LIKE '%poll%'`],
  ["no note of a request", "UPDATE order_requests SET note = NULL WHERE note IS NOT NULL"],
  ["no texts beside a transfer", "UPDATE transfer_details SET reference = NULL, public_note = 'erased'"],
  ["another audit entry", "UPDATE audit SET subject = 'x' WHERE account IS NOT NULL"],
]; // prettier-ignore
describe("the database refuses to change a row of a user who is not erased:", () => {
  let shop: Shop;
  let before: string;
  beforeAll(() => {
    shop = seedPersonalData(openShop());
    before = shop.dump();
  });

  test.each(CHANGES)("%s", (_, text) => {
    expect(() => shop.query(text)).toThrow(REFUSED);
    expect(shop.dump()).toBe(before);
  });
});

const MORE: [what: string, text: string][] = [
  ["another link", "UPDATE orders SET link = 'x'"],
  ["another reference", "UPDATE orders SET reference = 'x'"],
  ["another quantity", "UPDATE orders SET quantity = quantity + 1"],
  ["another amount", "UPDATE transfers SET note = NULL, amount_micros = amount_micros + 1"],
  ["a new note of a transfer", "UPDATE transfers SET note = 'x'"],
  ["another state of an event", "UPDATE order_events SET note = NULL, to_status = 'FAILED'"],
  ["another outcome", "UPDATE attempts SET cause = NULL, outcome = 'accepted'"],
  ["no texts", "UPDATE orders SET extra = NULL WHERE extra IS NOT NULL"],
  ["another text", "UPDATE orders SET extra = replace(extra, 'erased', 'x') WHERE extra IS NOT NULL"],
  ["fewer lines", `UPDATE orders SET extra = replace(extra, 'erased\\nerased', 'erased') WHERE extra IS NOT NULL`],
  ["another type", `UPDATE orders SET extra = replace(extra, '{"type":"', '{"type":"x') WHERE extra IS NOT NULL`],
  ["another number of runs", `UPDATE orders SET extra = replace(extra, '"runs":2', '"runs":1') WHERE extra LIKE '%runs%'`],
  ["a field more", `UPDATE orders SET extra = replace(extra, '}', ',"x":1}') WHERE extra IS NOT NULL`],
  ["a field less", `UPDATE orders SET extra = '{"type":"comment_replies","username":"erased"}' WHERE extra LIKE '%replies%'`],
  ["a new note of a request", "UPDATE order_requests SET note = 'x'"],
  ["another state of a request", "UPDATE order_requests SET note = NULL, state = 'done'"],
  ["another time of a request", "UPDATE order_requests SET note = NULL, changed_at = changed_at + 1"],
  ["another public note", "UPDATE transfer_details SET public_note = 'x'"],
  ["another reference of a transfer", "UPDATE transfer_details SET reference = 'x'"],
  ["another account of a public note", "UPDATE transfer_details SET account = account + 1"],
  ["no public note", "DELETE FROM transfer_details"],
  ["another author", "UPDATE audit SET operator = 'x'"],
  ["a name", "UPDATE users SET name = 'x' WHERE erased_at IS NOT NULL"],
  ["no time of its erasure", "UPDATE users SET erased_at = NULL WHERE erased_at IS NOT NULL"],
]; // prettier-ignore
describe("the database refuses to change a row of an erased user:", () => {
  let shop: Shop;
  let before: string;
  beforeAll(async () => {
    shop = seedPersonalData(openShop());
    await erase(shop);
    before = shop.dump();
  });

  test.each(MORE)("%s", (_, text) => {
    expect(() => shop.query(text)).toThrow(REFUSED);
    expect(shop.dump()).toBe(before);
  });
});

test("an order of another user keeps its link beside the erasure", async () => {
  const shop = seedPersonalData(openShop());
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
