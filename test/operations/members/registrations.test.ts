// Room for registrations, on both engines: whoever has not proved an address keeps nobody out, and no network can take
// all places.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { findRegistrationByEmail } from "../../../src/db/members/registrations.ts";
import { UNPROVED_LIMIT } from "../../../src/domain/members/members.ts";
import { refusalCode } from "../../support/http/refusal.ts";
import { openShop, type Shop } from "../../support/worlds/shop.ts";

const NOW = Date.now();
const HOUR = 3_600_000;
let shop: Shop;
beforeEach(() => {
  shop = openShop();
  shop.run("setMailSettings", { active: true, operator: null });
});
afterEach(() => shop.close());

const from = (network: string) => ({ address: "203.0.113.9", network, userAgent: "" });
const visitor = (email: string, network: string) =>
  ({ email, name: "V", language: "en", from: from(network) }) as const;
const asks = (email: string, network: string, now = NOW, limit: number | null = 1000) =>
  shop.execute("askAccount", { ...visitor(email, network), limit }, now);
const waits = (email: string, network: string, limit: number, now = NOW) =>
  shop.execute("register", { ...visitor(email, network), limit }, now);
const isThere = (email: string) =>
  shop.read((reader) => findRegistrationByEmail(reader, email)) !== undefined;
const emails = () =>
  shop
    .query<{ email: string }>("SELECT email FROM registrations ORDER BY created_at, id")
    .map(({ email }) => email);

/** Fills the table with visitors who have not proved their address, one a network or all from one. */
function fill(count: number, networkOf: string): void {
  shop.query(
    `WITH RECURSIVE numbered(n) AS (SELECT 10000 UNION ALL SELECT n + 1 FROM numbered WHERE n < ${9999 + count})
      INSERT INTO registrations (id, email, name, language, created_at, confirm_until, network)
      SELECT 'aaaaaaaaaaaaaaaaaaa' || n, n || '@flood.example', 'n', 'en', ${NOW} - 20000 + n, ${NOW + HOUR}, ${networkOf}
      FROM numbered`,
  );
}

describe("visitors who have not proved their address", () => {
  test("from one network take no place of others, however many they are", () => {
    asks("real@x.example", "10.0.0.0/24", NOW - HOUR);
    fill(UNPROVED_LIMIT - 1, "'192.0.2.0/24'");
    for (let each = 0; each < 20; each += 1) asks(`n${each}@x.example`, `10.0.${each + 1}.0/24`);
    expect(isThere("real@x.example")).toBe(true);
    for (let each = 0; each < 20; each += 1) expect(isThere(`n${each}@x.example`)).toBe(true);
    expect(emails()).toHaveLength(UNPROVED_LIMIT);
    // Those who had the longest time made room.
    expect(isThere("10018@flood.example")).toBe(false);
    expect(isThere("10020@flood.example")).toBe(true);
  });

  test("from as many networks make room in turn, the oldest first, and nobody is refused", () => {
    fill(UNPROVED_LIMIT, "'net-' || n");
    asks("real@x.example", "10.0.0.0/24");
    expect([isThere("real@x.example"), isThere("10000@flood.example")]).toEqual([true, false]);
    expect(isThere("10001@flood.example")).toBe(true);
    expect(emails()).toHaveLength(UNPROVED_LIMIT);
  });

  test("count for nothing while the operator's list has room, and proved ones never make room", () => {
    fill(UNPROVED_LIMIT, "'192.0.2.0/24'");
    asks("real@x.example", "10.0.0.0/24", NOW, 1);
    const hash = "e".repeat(64);
    shop.query(`UPDATE registrations SET confirm_hash = '${hash}' WHERE email = 'real@x.example'`);
    const prove = (confirmHash: string) => ({ confirmHash, from: from("10.0.0.0/24"), limit: 1 });
    shop.execute("proveRegistration", prove(hash), NOW);
    // Full now: the next visitor is told at once, and a link that is open is not lost.
    expect(refusalCode(() => asks("next@x.example", "10.0.1.0/24", NOW, 1))).toBe(
      "registrations_full",
    );
    const other = "f".repeat(64);
    shop.query(`UPDATE registrations SET confirm_hash = '${other}' WHERE email = '10500@flood.example'`);
    expect(refusalCode(() => shop.execute("proveRegistration", prove(other), NOW))).toBe(
      "registrations_full",
    );
    expect([isThere("real@x.example"), isThere("10500@flood.example")]).toEqual([true, true]);
  }); // prettier-ignore

  test("make room for each other, and never take that of one proved in the same millisecond", () => {
    fill(UNPROVED_LIMIT, "'192.0.2.0/24'");
    // Both of one network and one moment: the one that waits comes first by its id.
    shop.query(
      `UPDATE registrations SET created_at = ${NOW - 30_000} WHERE email = '10000@flood.example'`,
    );
    shop.query(`INSERT INTO registrations (id, email, name, language, created_at, network)
      VALUES ('aaaaaaaaaaaaaaaaaaa00000', 'proved@x.example', 'P', 'en', ${NOW - 30_000}, '192.0.2.0/24')`);
    asks("real@x.example", "10.0.0.0/24");
    expect([isThere("proved@x.example"), isThere("10000@flood.example")]).toEqual([true, false]);
  });

  test("end after a day by themselves", () => {
    asks("real@x.example", "10.0.0.0/24");
    expect(shop.execute("expireMails", { limit: 9 }, NOW + 24 * HOUR - 1)).toBe(0);
    shop.execute("expireMails", { limit: 9 }, NOW + 24 * HOUR);
    expect(isThere("real@x.example")).toBe(false);
  });
});

describe("visitors who wait without a proof, where no e-mails are sent", () => {
  const LIMIT = 6;

  test("make room where one network has most of the places: its newest one leaves", () => {
    waits("first@x.example", "10.0.0.0/24", LIMIT, NOW);
    for (let each = 1; each < LIMIT; each += 1) {
      waits(`f${each}@flood.example`, "192.0.2.0/24", LIMIT, NOW + each);
    }
    waits("second@x.example", "10.0.1.0/24", LIMIT, NOW + LIMIT);
    expect(emails()).toEqual([
      "first@x.example",
      ...[1, 2, 3, 4].map((each) => `f${each}@flood.example`),
      "second@x.example",
    ]);
    // The network that floods gets no further place.
    expect(refusalCode(() => waits("f9@flood.example", "192.0.2.0/24", LIMIT))).toBe(
      "registrations_full",
    );
  });

  test("who is alone at its network is never pushed out", () => {
    for (let each = 0; each < LIMIT; each += 1) waits(`${each}@x.example`, `10.0.${each}.0/24`, LIMIT);
    const before = emails();
    expect(refusalCode(() => waits("new@x.example", "10.1.0.0/24", LIMIT))).toBe("registrations_full");
    expect(emails()).toEqual(before);
  }); // prettier-ignore
});
