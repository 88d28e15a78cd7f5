// The changes feed and service.changed: whatever changes services and grants, by whichever command, is told in the same
// transaction. docs/specification/endpoints.md#get-services-changes.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { findProvider } from "../../../src/db/providers/providers.ts";
import { findLastChange, listServiceChanges } from "../../../src/db/catalogue/service-changes.ts";
import { listOpenServices } from "../../../src/db/catalogue/services.ts";
import { users } from "../../../src/db/tables/users.ts";
import { jsonAmount } from "../../../src/domain/ledger/money.ts";
import type { UpstreamEntry } from "../../../src/domain/providers/upstream-services.ts";
import { formatSecret } from "../../../src/domain/webhooks/webhooks.ts";
import { Refusal } from "../../../src/domain/values/error-table.ts";
import type {
  CommandInput,
  CommandName,
  CommandOutput,
} from "../../../src/operations/batch/commands.ts";
import { execute } from "../../../src/operations/batch/execute.ts";
import { planCatalogue } from "../../../src/operations/providers/providers.ts";
import type { Engine } from "../../support/databases/engine.ts";
import { runs } from "../../support/runs.ts";
import { ENGINES, freshStore, type TestStore } from "../../support/databases/stores.ts";

const actor = { keyId: null, operator: "tester" };
const RESELLERS = ["alice", "bob", "carol"];
const SERVICES = ["a", "b", "c", "d"];
const TERMS = { per: "1000", min: 1, max: 1000 } as const;
const NOW = 1_800_000_000_000;

interface Market {
  store: TestStore;
  accounts: number[];
  run: <Name extends CommandName>(
    name: Name,
    input: CommandInput<Name>,
  ) => Promise<CommandOutput<Name>>;
  sync: (upstream: UpstreamEntry[], markup?: string) => Promise<unknown>;
}

async function openMarket(engine: Engine): Promise<Market> {
  const store = await freshStore(engine);
  const run: Market["run"] = async (name, input) => execute(store, name, input, NOW);
  const accounts: number[] = [];
  for (const username of RESELLERS) {
    const user = { username, name: username, parent: null, actor };
    accounts.push((await run("createUser", user)).account);
  }
  const url = "http://127.0.0.1:1/";
  await run("createProvider", { name: "acme", protocol: "smm-api", url, key: "secret", actor });
  return {
    store,
    accounts,
    run,
    async sync(upstream, markup = "0") {
      const plan = await store.read((reader) =>
        planCatalogue(reader, findProvider(reader, "acme")!, upstream, { markup }),
      );
      return run("syncCatalogue", { name: "acme", upstream, markup, plan, actor });
    },
  };
}

const upstream = (service: string, rate: string, min = 1): UpstreamEntry => ({
  service,
  name: `Upstream ${service}`,
  category: "C",
  type: "Default",
  rate,
  min,
  max: 100,
  dripfeed: false,
  cancel: false,
  refill: false,
});

type Listed = Record<string, Record<string, unknown>>;

/** What GET /services would answer. */
function listed(store: TestStore, account: number): Promise<Listed> {
  return Promise.resolve(
    store.read((reader) =>
      Object.fromEntries(
        listOpenServices(reader, account).map(({ id, name, priceMicros, per, min, max }) => [
          id,
          { name, price: jsonAmount(priceMicros), per, min, max },
        ]),
      ),
    ),
  );
}

/** Applies the feed from a cursor to a list, one change at a time, as a reseller's program would. */
async function replay(store: TestStore, account: number, since: number, to: Listed, limit = 3) {
  const list: Listed = structuredClone(to);
  const partly: Listed = {};
  let last = since;
  for (let cursor = since; ;) {
    const page = await store.read((reader) => ({
      found: listServiceChanges(reader, account, cursor, limit),
    }));
    const { changes, cursor: next } = page.found!;
    for (const { seq, service, field, before, after } of changes) {
      expect(seq).toBeGreaterThan(last);
      last = seq;
      const shown = list[service];
      if (field !== "available") {
        const target = shown ?? (partly[service] ??= {});
        expect(before).toEqual((shown?.[field] ?? null) as never);
        target[field] = after;
      } else if (after === true) {
        expect(shown).toBeUndefined();
        list[service] = partly[service]!;
        delete partly[service];
      } else {
        expect(shown).toBeDefined();
        delete list[service];
      }
    }
    if (next === cursor) break;
    cursor = next;
  }
  expect(partly).toEqual({});
  return list;
}

/** A random command that changes what someone may order, or is refused. */
const command = fc.oneof(
  fc.record({
    kind: fc.constant("update"),
    price: fc.nat(5).map((each) => each * 333_331),
    per: fc.constantFrom("1000", "1", "order"),
    min: fc.integer({ min: 1, max: 3 }),
    private: fc.boolean(),
  }),
  fc.record({ kind: fc.constant("create"), private: fc.boolean() }),
  fc.record({ kind: fc.constant("active"), active: fc.boolean() }),
  fc.record({
    kind: fc.constant("grant"),
    price: fc.option(fc.nat(5).map((each) => each * 333_331)),
  }),
  fc.record({
    kind: fc.constant("discount"),
    ppm: fc.constantFrom(0, 100_000, 333_333, 1_000_000),
  }),
  fc.record({ kind: fc.constant("revoke") }),
  fc.record({ kind: fc.constant("prices"), price: fc.nat(5).map((each) => each * 333_331) }),
  fc.record({ kind: fc.constant("import") }),
  fc.record({
    kind: fc.constant("sync"),
    rates: fc.array(fc.nat(4), { minLength: 1, maxLength: 4 }),
  }),
) as fc.Arbitrary<Record<string, any> & { kind: string }>;

const step = fc.record({
  command,
  service: fc.constantFrom(...SERVICES),
  username: fc.constantFrom(...RESELLERS),
});

async function apply(
  { run, store, sync }: Market,
  each: { command: Record<string, any>; service: string; username: string },
  place: number,
) {
  const { command: what, service: id, username } = each;
  switch (what["kind"]) {
    case "update": {
      const { price, per, min } = what;
      return run("updateService", {
        id,
        changes: { priceMicros: price, per, min, private: what["private"] },
        actor,
      });
    }
    case "create":
      return run("createService", {
        id,
        name: `Service ${id}`,
        priceMicros: 700_007,
        ...TERMS,
        private: what["private"],
        actor,
      });
    case "active":
      return run("setServiceActive", { id, active: what["active"], actor });
    case "grant":
      return run("grantService", { id, username, priceMicros: what["price"], actor });
    case "discount":
      return run("setDiscount", { username, discountPpm: what["ppm"], actor });
    case "revoke":
      return run("revokeService", { id, username, actor });
    case "prices": {
      const [row] = await store.query(
        `SELECT price_micros AS price FROM services WHERE id = '${id}'`,
      );
      const before = Number(row?.["price"] ?? 0);
      return run("changePrices", { prices: [{ id, before, after: what["price"] }], actor });
    }
    case "import": {
      const rows = [0, 1].map((row) => ({
        id: `i${place}-${row}`,
        name: "Imported",
        priceMicros: row,
        ...TERMS,
        private: row === 1,
      }));
      return run("importServices", { services: rows, actor });
    }
    default:
      return sync(
        (what["rates"] as number[]).map((rate, at) => upstream(String(at), String(rate))),
      );
  }
}

describe.each(ENGINES)("on %s", (engine) => {
  test("applying the feed from any cursor gives each reseller's GET /services, whoever changed whatever", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
        const market = await openMarket(engine);
        const { store, accounts } = market;
        /** Cursors with each reseller's list of that moment. */
        const moments: { cursor: number; lists: Listed[] }[] = [];
        const note = async () => {
          const cursor = await store.read(findLastChange);
          const lists = await Promise.all(accounts.map((account) => listed(store, account)));
          moments.push({ cursor, lists });
        };
        await note();
        for (const [place, each] of steps.entries()) {
          try {
            await apply(market, each, place);
          } catch (error) {
            if (!(error instanceof Refusal)) throw error;
          }
          await note();
        }
        const { lists: last } = moments.at(-1)!;
        for (const [place, account] of accounts.entries()) {
          expect(await replay(store, account, 0, {})).toEqual(last[place]!);
          for (const { cursor, lists } of moments) {
            expect(await replay(store, account, cursor, lists[place]!, 7)).toEqual(last[place]!);
          }
        }
        await store.close();
      }),
      { numRuns: engine === "sqlite" ? runs(15, 60) : 8 },
    );
  });

  test("prices of many services are service.changed, at the price that each reseller pays", async () => {
    const { store, run } = await openMarket(engine);
    await listen(run, "alice");
    await listen(run, "bob");
    for (const id of ["a", "b"]) {
      await run("createService", {
        id,
        name: id,
        priceMicros: 1_000_000,
        ...TERMS,
        private: false,
        actor,
      });
    }
    await run("grantService", { id: "b", username: "bob", priceMicros: 5, actor });
    const before = (await events(store)).length;
    const prices = ["a", "b"].map((id) => ({ id, before: 1_000_000, after: 2_000_000 }));
    await run("changePrices", { prices, actor });
    expect((await events(store)).slice(before)).toEqual([
      "alice a price 1 2",
      "bob a price 1 2",
      "alice b price 1 2",
    ]);
    await store.close();
  });

  test("a catalogue sync is service.changed: added, changed, delisted, listed again", async () => {
    const { store, run, sync } = await openMarket(engine);
    await listen(run, "alice");
    const fresh = async (change: () => Promise<unknown>) => {
      const before = (await events(store)).length;
      await change();
      return (await events(store)).slice(before).map((line) => line.replace(/ [a-z0-9]{24} /, " "));
    };
    const both = [upstream("1", "1"), upstream("2", "2")];
    expect(await fresh(() => sync(both))).toEqual([
      "alice available false true",
      "alice available false true",
    ]);
    expect(await fresh(() => sync(both))).toEqual([]);
    expect(await fresh(() => sync([upstream("1", "1.5", 5), upstream("2", "2")]))).toEqual([
      "alice price 1 1.5",
      "alice min 1 5",
    ]);
    expect(await fresh(() => sync([upstream("2", "2")]))).toEqual(["alice available true false"]);
    expect(await fresh(() => sync([upstream("1", "3"), upstream("2", "2")]))).toEqual([
      "alice available false true",
    ]);
    await store.close();
  });

  test("changes that are rolled back with their batch are in neither the feed nor the events", async () => {
    const { store, run } = await openMarket(engine);
    await listen(run, "alice");
    const id = "a";
    await run("createService", { id, name: id, priceMicros: 1, ...TERMS, private: false, actor });
    const before = [await store.read(findLastChange), (await events(store)).length];
    const services = [
      { id: "new", name: "New", priceMicros: 1, ...TERMS, private: false },
      { id, name: "Taken", priceMicros: 1, ...TERMS, private: false },
    ];
    const refused = await run("importServices", { services, actor }).catch(
      (error: unknown) => error,
    );
    expect(refused).toMatchObject({ code: "import_id_taken" });
    expect([await store.read(findLastChange), (await events(store)).length]).toEqual(before);
    await store.close();
  });
});

async function listen(run: Market["run"], username: string): Promise<void> {
  const secret = formatSecret(crypto.getRandomValues(new Uint8Array(32)));
  const hook = { url: "https://shop.example/", events: "service.changed", balanceLowBelow: null };
  await run("createWebhook", { username, ...hook, secret, actor });
}

/** `username service field before after` of each change of each event. */
async function events(store: TestStore): Promise<string[]> {
  const rows = await store.query(
    `SELECT username, body FROM webhook_events JOIN ${users.name} ON account = reseller_account ORDER BY event_id`,
  );
  return rows.flatMap(({ username, body }) => {
    const { service, changes } = JSON.parse(String(body)).data;
    return changes.map(
      ({ field, before, after }: Record<string, unknown>) =>
        `${String(username)} ${service.id} ${String(field)} ${String(before)} ${String(after)}`,
    );
  });
}
