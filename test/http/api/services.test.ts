// The response cache of GET /services: never another reseller's list, never a stale one.
// Its members are tested in shapes.test.ts.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { bundledProgram } from "../../support/bundles.ts";
import { optionsOf, reseller } from "../../support/worlds/shop.ts";
import type { Body } from "../../support/http/api.ts";
import { openService, type TestService } from "../../support/worlds/service.ts";
import { micros } from "../../support/databases/test-database.ts";
import { PROVIDER_KEY, startUpstream } from "../../support/peers/upstream.ts";

/** anna and bert have grants of their own; carl and dora have none. */
const RESELLERS = ["anna", "bert", "carl", "dora"] as const;
type Reseller = (typeof RESELLERS)[number];

let shop: TestService;
let keys: Record<string, string>;

beforeEach(async () => {
  shop = await openShop("Followers");
  keys = keysOf(shop);
});
afterEach(() => shop.stop());

async function openShop(name: string): Promise<TestService> {
  const service = await openService();
  service.service({ id: "followers", name });
  service.service({ id: "likes", name: "Likes 👍", price: "0.000001" });
  service.service({ id: "secret", name: "Secret", private: true });
  for (const username of RESELLERS) service.user(username);
  for (const username of ["anna", "bert"]) {
    service.run("grantService", { id: "followers", username, priceMicros: null });
  }
  return service;
}

const keysOf = (service: TestService) =>
  Object.fromEntries(RESELLERS.map((username) => [username, service.key(username, "order").text]));

/** What each reseller gets now, byte for byte; it must match the database. */
async function told(): Promise<Record<Reseller, string>> {
  const texts: Record<string, string> = {};
  for (const username of RESELLERS) {
    const { status, text } = await shop.call("GET", "/services", keys[username]);
    expect([username, status, text]).toEqual([username, 200, written(username)]);
    texts[username] = text;
  }
  return texts as Record<Reseller, string>;
}

/** The list as it is now, serialised without the cache. */
function written(username: string): string {
  const services = shop.query(
    `SELECT id, name, coalesce(grants.price_micros, services.price_micros) / 1e6 AS price, min, max
     FROM services LEFT JOIN grants ON service_id = id
       AND reseller_account = (SELECT account FROM users WHERE username = ?)
     WHERE active = 1 AND (private = 0 OR service_id IS NOT NULL) ORDER BY name, id`,
    username,
  );
  return JSON.stringify({ status: "success", services });
}

async function runProcess(...argv: string[]): Promise<void> {
  const command = Bun.spawn([...(await bundledProgram()), ...argv, ...optionsOf(shop)], {
    stdout: "ignore",
  });
  expect(await command.exited).toBe(0);
}

test("a change by another process shows in the next response", async () => {
  let before = await told();
  const CHANGES = [
    "admin service create --name New --price 1 --min 1 --max 9",
    "admin service update followers --price 3.5",
    "admin service grant secret --user carl --price 0.5",
    "admin service deactivate likes",
  ];
  for (const change of CHANGES) {
    await runProcess(...change.split(" "));
    const after = await told();
    expect([change, after.carl === before.carl]).toEqual([change, false]);
    before = after;
  }
});

describe("the next response shows", () => {
  const sql = (statement: string) => () => shop.query(statement);
  /** Writes a single column; an operation would write them all. */
  const set = (change: string) => sql(`UPDATE services SET ${change} WHERE id = 'likes'`);
  const setGrant = (change: string) =>
    sql(`UPDATE grants SET ${change} WHERE reseller_account = 3`);
  const grant = (id: string, username: string, price: string | null) => () =>
    shop.run("grantService", { id, username, priceMicros: price === null ? null : micros(price) });
  const close = () => shop.run("updateService", { id: "followers", changes: { private: true } });
  const EVERYONE = RESELLERS;

  const CHANGES: [title: string, change: () => unknown, shownTo: readonly Reseller[]][] = [
    ["a new service", () => shop.service({ name: "New" }), EVERYONE],
    ["a service's new id", set("id = 'hearts'"), EVERYONE],
    ["its new name", set("name = 'Hearts'"), EVERYONE],
    ["its new price", set("price_micros = 2"), EVERYONE],
    ["its new min", set("min = 11"), EVERYONE],
    ["its new max", set("max = 99"), EVERYONE],
    ["its end", set("active = 0"), EVERYONE],
    ["its removal", sql("DELETE FROM services WHERE id = 'likes'"), EVERYONE],
    ["its becoming private", set("private = 1"), EVERYONE],
    ["its becoming private to those who hold a grant", close, ["carl", "dora"]],
    ["a grant of a private service", grant("secret", "anna", null), ["anna"]],
    ["a first grant", grant("secret", "carl", "7"), ["carl"]],
    ["a price of one's own", grant("followers", "bert", "1.5"), ["bert"]],
    ["a grant's new price", setGrant("price_micros = 5"), ["anna"]],
    ["a grant of another service now", setGrant("service_id = 'secret'"), ["anna"]],
  ];
  test.each(CHANGES)("%s", async (_title, change, shownTo) => {
    const before = await told();
    change();
    const after = await told();
    expect(RESELLERS.filter((username) => after[username] !== before[username])).toEqual([
      ...shownTo,
    ]);
  });

  test("another granted price, and its revocation", async () => {
    const list = async () => (await told()).anna;
    const first = await list();
    grant("likes", "anna", "1.5")();
    const priced = await list();
    grant("likes", "anna", "2.5")();
    const pricedAnew = await list();
    shop.run("revokeService", { id: "likes", username: "anna" });
    expect(new Set([first, priced, pricedAnew]).size).toBe(3);
    expect(await list()).toBe(first);
  });

  test("a grant that is revoked and given to another reseller", async () => {
    grant("secret", "anna", "7")();
    const before = await told();
    sql("UPDATE grants SET reseller_account = 4 WHERE service_id = 'secret'")();
    const after = await told();
    expect([after.anna, after.bert].map((list) => list.includes("Secret"))).toEqual([false, true]);
    expect([after.carl, after.dora]).toEqual([before.carl, before.dora]);
  });

  test("a service that is active again", async () => {
    const first = await told();
    shop.run("setServiceActive", { id: "likes", active: false });
    expect((await told()).dora).not.toBe(first.dora);
    shop.run("setServiceActive", { id: "likes", active: true });
    expect(await told()).toEqual(first);
  });

  test("what a catalogue sync adds, changes and deactivates", async () => {
    const upstream = await startUpstream();
    const { url } = upstream;
    shop.run("createProvider", { name: "acme", protocol: "smm-api", url, key: PROVIDER_KEY });
    const listed = { service: 1, name: "Views", type: "Default", rate: "0.90", min: 5, max: 100 };
    const LISTS = [
      [listed, { ...listed, service: 2, name: "Shares" }],
      [
        { ...listed, rate: "0.95" },
        { ...listed, service: 2, name: "Shares" },
      ],
      [{ ...listed, rate: "0.95" }],
    ];
    let before = await told();
    for (const services of LISTS) {
      upstream.services = services;
      const sync = ["admin", "provider", "sync", "acme", "--markup", "0%"];
      const { code } = await reseller(...sync, ...optionsOf(shop));
      const after = await told();
      expect([code, RESELLERS.filter((name) => after[name] === before[name])]).toEqual([0, []]);
      before = after;
    }
    await upstream.stop();
  });
});

test("a change shows once it is committed, and never if it is rolled back", async () => {
  const first = await shop.call("GET", "/services", keys["carl"]);
  shop.query("BEGIN");
  shop.query("UPDATE services SET name = 'Undone'");
  expect((await shop.call("GET", "/services", keys["carl"])).text).toBe(first.text);
  shop.query("ROLLBACK");
  expect((await told()).carl).toBe(first.text);
  shop.run("updateService", { id: "followers", changes: { name: "Done" } });
  expect((await told()).carl).toContain('"Done"');
});

test("a granted price is shown to no other reseller, whoever reads first", async () => {
  const price = { anna: "11.111111", bert: "22.222222" };
  for (const [username, own] of Object.entries(price)) {
    shop.run("grantService", { id: "secret", username, priceMicros: micros(own) });
  }
  for (let round = 0; round < 4; round++) {
    // Another one asks first of the changed catalogue.
    shop.run("updateService", { id: "likes", changes: { min: 1 + round } });
    const order = RESELLERS.map((_, place) => RESELLERS[(place + round) % RESELLERS.length]!);
    for (const username of [...order, ...order.toReversed()]) {
      const { text } = await shop.call("GET", "/services", keys[username]);
      const seen = Object.entries(price).filter(([, own]) => text.includes(own));
      expect([username, seen.map(([name]) => name)]).toEqual([
        username,
        username in price ? [username] : [],
      ]);
    }
  }
});

test("a list is read once while nothing changes, and shared by all without grants", async () => {
  await told();
  // A change that the database does not tell of: only a list that is read anew could show it.
  shop.dropTrigger("services_changed");
  shop.query("UPDATE services SET name = 'Unseen'");
  for (const username of RESELLERS) {
    const { text } = await shop.call("GET", "/services", keys[username]);
    expect([username, text.includes("Unseen")]).toEqual([username, false]);
  }
  shop.user("emil");
  const { text } = shop.key("emil", "order");
  expect((await shop.call("GET", "/services", text)).text).not.toContain("Unseen");
});

test("two services in one process each return their own catalogue", async () => {
  const other = await openShop("Fans");
  const otherKeys = keysOf(other);
  for (const username of RESELLERS) {
    const mine = await shop.call("GET", "/services", keys[username]);
    const theirs = await other.call("GET", "/services", otherKeys[username]);
    expect([mine.text.includes('"Fans"'), theirs.text.includes('"Fans"')]).toEqual([false, true]);
  }
  await other.stop();
});

test("every member that only fields=all shows is new in the next response", async () => {
  const likes = async () => {
    const { body } = await shop.call("GET", "/services?fields=all", keys["anna"]);
    return (body.services as Body[]).find(({ name }) => name.startsWith("Likes"))!;
  };
  for (const [member, change, value] of [
    ["per", "per = '1'", "1"],
    ["dripfeed", "dripfeed = 1", true],
    ["cancel", "cancel = 1", true],
    ["refill", "refill = 1", true],
    ["refillDays", "refill_days = 7", 7],
    ["type", "dripfeed = 0, type = 'poll'", "poll"],
  ] as const) {
    expect([member, (await likes())[member] === value]).toEqual([member, false]);
    shop.query(`UPDATE services SET ${change} WHERE id = 'likes'`);
    expect([member, (await likes())[member]]).toEqual([member, value]);
  }
});
