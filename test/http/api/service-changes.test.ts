// GET /services/changes: docs/specification/endpoints.md#get-services-changes.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openService, type TestService } from "../../support/worlds/service.ts";
import { OPERATOR } from "../../support/databases/test-database.ts";

let shop: TestService;
let alice: string;
let bob: string;

const TERMS = { priceMicros: 1_000_000, per: "1000", min: 1, max: 10, private: false } as const;

beforeAll(async () => {
  shop = await openService();
  for (const username of ["alice", "bob"]) {
    shop.run("createUser", { username, name: username, parent: null });
  }
  alice = shop.key("alice", "order").text;
  bob = shop.key("bob", "full").text;
});
afterAll(() => shop.stop());

const feed = async (since: string | number, key = alice, limit?: number) => {
  const query = new URLSearchParams({ since: String(since), ...(limit && { limit: `${limit}` }) });
  const { status, body } = await shop.call("GET", `/services/changes?${query.toString()}`, key);
  expect(status).toBe(200);
  return body as {
    changes: { seq: number; service: string; at: string; field: string; before: any; after: any }[];
    nextCursor: string;
  };
};
const now = async (key = alice) => (await feed("now", key)).nextCursor;
const told = async (since: string, key = alice) =>
  (await feed(since, key)).changes.map(
    ({ service, field, before, after }) => `${service} ${field} ${before} ${after}`,
  );
/** What one change of the catalogue is to alice and to bob. */
const after = async (change: () => unknown) => {
  const since = await now();
  change();
  return [await told(since), await told(since, bob)];
};

describe("to each reseller, at its own price:", () => {
  test("a new service is sent with all of its members, `available` last", async () => {
    const whole = [
      "likes name null Likes",
      "likes price null 1",
      "likes per null 1000",
      "likes min null 1",
      "likes max null 10",
      "likes available false true",
    ];
    const create = () => shop.run("createService", { id: "likes", name: "Likes", ...TERMS });
    expect(await after(create)).toEqual([whole, whole]);
  });

  test.each([
    ["price", { priceMicros: 2_500_000 }, "likes price 1 2.5"],
    ["min", { min: 2 }, "likes min 1 2"],
    ["max", { max: 11 }, "likes max 10 11"],
    ["name", { name: "Hearts" }, "likes name Likes Hearts"],
    ["unit", { per: "1" as const }, "likes per 1000 1"],
    ["unit back", { per: "1000" as const }, "likes per 1 1000"],
  ])("%s", async (_, changes, line) => {
    const update = () => shop.run("updateService", { id: "likes", changes });
    expect(await after(update)).toEqual([[line], [line]]);
  });

  test("a change that no reseller sees is not recorded", async () => {
    const same = { category: "Other", priceMicros: 2_500_000 };
    const update = () => shop.run("updateService", { id: "likes", changes: same });
    expect(await after(update)).toEqual([[], []]);
  });

  test("a grant, and changes that a granted price hides", async () => {
    const grant = (priceMicros: number | null) => () =>
      shop.run("grantService", { id: "likes", username: "bob", priceMicros });
    expect(await after(grant(900_000))).toEqual([[], ["likes price 2.5 0.9"]]);
    const reprice = () =>
      shop.run("updateService", { id: "likes", changes: { priceMicros: 3_000_000, min: 3 } });
    expect(await after(reprice)).toEqual([
      ["likes price 2.5 3", "likes min 2 3"],
      ["likes min 2 3"],
    ]);
    expect(await after(grant(null))).toEqual([[], ["likes price 0.9 3"]]);
  });

  test("private, revoked, public again, deactivated, reactivated", async () => {
    const gone = ["likes available true false"];
    const hide = () => shop.run("updateService", { id: "likes", changes: { private: true } });
    expect(await after(hide)).toEqual([gone, []]);
    const revoke = () => shop.run("revokeService", { id: "likes", username: "bob" });
    expect(await after(revoke)).toEqual([[], gone]);
    const reprice = () =>
      shop.run("updateService", { id: "likes", changes: { priceMicros: 4_000_000 } });
    expect(await after(reprice)).toEqual([[], []]);
    const show = () => shop.run("updateService", { id: "likes", changes: { private: false } });
    const back = [
      "likes name null Hearts",
      "likes price null 4",
      "likes per null 1000",
      "likes min null 3",
      "likes max null 11",
      "likes available false true",
    ];
    expect(await after(show)).toEqual([back, back]);
    const switched = (active: boolean) => () =>
      shop.run("setServiceActive", { id: "likes", active });
    expect(await after(switched(false))).toEqual([gone, gone]);
    expect(await after(switched(true))).toEqual([back, back]);
  });

  test("a discount, for services without a granted price", async () => {
    const discount = (discountPpm: number) => () =>
      shop.run("setDiscount", { username: "alice", discountPpm });
    expect(await after(discount(250_000))).toEqual([["likes price 4 3"], []]);
    const reprice = () =>
      shop.run("updateService", { id: "likes", changes: { priceMicros: 8_000_000 } });
    expect(await after(reprice)).toEqual([["likes price 3 6"], ["likes price 4 8"]]);
    const create = () => shop.run("createService", { id: "new", name: "New", ...TERMS });
    const [ofAlice] = await after(create);
    expect(ofAlice![1]).toBe("new price null 0.75");
    expect(await after(discount(0))).toEqual([["likes price 6 8", "new price 0.75 1"], []]);
  });

  test("a test key gets the changes of its live reseller", async () => {
    shop.run("grantService", { id: "likes", username: "bob", priceMicros: 10_000 });
    const testKey = shop.key("bob", "full", "all", true).text;
    const live = await feed(0, bob);
    expect(await feed(0, testKey)).toEqual(live);
  });
});

describe("by every way that a service changes:", () => {
  test("an import, prices of many, a catalogue sync", async () => {
    const rows = [
      { id: "one", name: "One", ...TERMS },
      { id: "two", name: "Two", ...TERMS },
    ];
    const [imported] = await after(() => shop.run("importServices", { services: rows }));
    expect(imported!.filter((line) => line.includes("available"))).toEqual([
      "one available false true",
      "two available false true",
    ]);
    const prices = ["one", "two"].map((id) => ({ id, before: 1_000_000, after: 1_100_000 }));
    expect((await after(() => shop.run("changePrices", { prices })))[0]).toEqual([
      "one price 1 1.1",
      "two price 1 1.1",
    ]);
  });

  test("refused or undone changes create no events", async () => {
    const prices = [{ id: "one", before: 5, after: 6 }];
    const refused = () => {
      expect(() => shop.run("changePrices", { prices })).toThrow("catalogue_changed");
    };
    expect(await after(refused)).toEqual([[], []]);
  });
});

describe("pages:", () => {
  test("numbers only grow, and every number is a cursor", async () => {
    const { changes, nextCursor } = await feed(0, alice, 100);
    const seqs = changes.map(({ seq }) => seq);
    expect(seqs).toEqual([...new Set(seqs)].toSorted((a, b) => a - b));
    for (const seq of seqs) {
      const rest = await feed(seq, alice, 100);
      expect(rest.changes).toEqual(changes.filter((each) => each.seq > seq));
    }
    const end = await feed(nextCursor);
    expect(end).toMatchObject({ changes: [], nextCursor });
  });

  test("of any size contain the same changes", async () => {
    const whole = (await feed(0, bob, 100)).changes;
    for (const limit of [1, 3, 7]) {
      const read = [];
      let cursor = "0";
      for (;;) {
        const page = await feed(cursor, bob, limit);
        expect(page.changes.length).toBeLessThanOrEqual(limit);
        read.push(...page.changes);
        if (page.nextCursor === cursor) break;
        cursor = page.nextCursor;
      }
      expect(read).toEqual(whole);
    }
  });

  test("a cursor that was never issued is refused, and so is an empty one", async () => {
    const must = "since must be 0, now or the nextCursor of an earlier answer";
    for (const since of ["9999999999", "x", "-1", "1", "01", ""]) {
      const { status, body } = await shop.call("GET", `/services/changes?since=${since}`, alice);
      expect([since, status, body.message]).toEqual([since, 400, must]);
    }
    const { status, body } = await shop.call("GET", "/services/changes", alice);
    expect([status, body.message, body.field]).toEqual([400, "since is required", "since"]);
  });

  test("need a key that may order", async () => {
    const { text } = shop.key("alice", "recharge");
    const { status } = await shop.call("GET", "/services/changes?since=0", text);
    expect(status).toBe(403);
  });

  test("an empty page before the end has a cursor to continue from, because others' changes are read in bounded steps", async () => {
    const since = await now();
    shop.run("createUser", { username: "carol", name: "Carol", parent: null });
    const many = Array.from({ length: 11_000 }, (_, place) => ({
      id: `hidden-${place}`,
      name: "Hidden",
      ...TERMS,
      private: true,
    }));
    shop.run("importServices", { services: many });
    shop.run("updateService", { id: "one", changes: { min: 2 } });
    const page = await feed(since);
    expect(page.changes).toEqual([]);
    expect(Number(page.nextCursor)).toBeGreaterThan(Number(since));
    let [rest, pages] = [page, 1];
    for (; rest.changes.length === 0; pages += 1) rest = await feed(rest.nextCursor);
    expect(rest.changes.map(({ service }) => service)).toEqual(["one"]);
    expect(pages).toBeLessThan(10);
  });
});

test("the actor of a change is never disclosed to resellers", async () => {
  const { body } = await shop.call("GET", "/services/changes?since=0&limit=100", alice);
  expect(JSON.stringify(body)).not.toContain(OPERATOR.operator);
});
