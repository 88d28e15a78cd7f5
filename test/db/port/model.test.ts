// Random small commands in random batches: SQLite, PostgreSQL and plain arrays give the same results, command by command and
// in what the tables hold in the end.

import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Outcome, Tx } from "../../../src/db/port/port.ts";
import { fields, query, select, statement } from "../../../src/db/port/query.ts";
import { number } from "../../../src/db/port/table-definition.ts";
import { grants, services } from "../../../src/db/tables/catalogue.ts";
import { orders } from "../../../src/db/tables/orders.ts";
import { keys, users } from "../../../src/db/tables/users.ts";
import { createId } from "../../../src/db/port/ids.ts";
import { below, randomFrom, type Random } from "../../support/random/seeded.ts";
import {
  ENGINES,
  freshStore,
  insertKey,
  insertService,
  insertUser,
  type TestStore,
} from "../../support/databases/stores.ts";

const SEEDS = 6;
const BATCHES = 40;
const BATCH_LIMIT = 12;
const USERS = 4;
const REFERENCES = 30;
const SERVICES = 3;

type Command =
  | { name: "credit"; user: number; amount: number }
  | {
      name: "order";
      user: number;
      service: number;
      reference: string;
      amount: number;
      breaks: boolean;
    }
  | { name: "finish"; user: number; reference: string }
  | { name: "grant"; user: number; service: number; price: number }
  | { name: "revoke"; user: number; service: number }
  | { name: "price"; service: number; price: number }
  | { name: "use"; user: number; at: number }
  | { name: "raise"; below: number }
  | { name: "count"; user: number }
  | { name: "tryBoth"; user: number; other: number; amount: number };

function anyCommand(random: Random): Command {
  const user = below(random, USERS);
  const service = below(random, SERVICES);
  const reference = `r${below(random, REFERENCES)}`;
  switch (below(random, 14)) {
    case 0:
    case 1:
      return { name: "credit", user, amount: below(random, 50) };
    case 2:
      return { name: "finish", user, reference };
    case 3:
      return { name: "grant", user, service, price: below(random, 30) };
    case 4:
      return { name: "revoke", user, service };
    case 5:
      return { name: "price", service, price: below(random, 30) };
    case 6:
      return { name: "use", user, at: below(random, 100) };
    case 7:
      return below(random, 4) === 0
        ? { name: "raise", below: below(random, 20) }
        : { name: "count", user };
    case 8:
      return { name: "tryBoth", user, other: below(random, USERS), amount: below(random, 60) };
    default: {
      const amount = below(random, 40);
      return { name: "order", user, service, reference, amount, breaks: below(random, 8) === 0 };
    }
  }
}

class No extends Error {}

const OPEN = query({
  parameters: { resellerAccount: number },
  columns: { open: number },
  restrictedBy: ["resellerAccount"],
  text: `SELECT count(*) AS open FROM orders WHERE reseller_account = :resellerAccount AND status = 'PROCESSING'`,
});
const RAISE = statement({
  parameters: { below: number },
  writes: [services],
  text: "UPDATE services SET price_micros = price_micros + 1 WHERE price_micros < :below",
});
const ALL_ORDERS = query({
  columns: fields(orders, "resellerAccount", "reference", "chargeMicros", "status", "serviceId"),
  text: `SELECT ${select(orders, "resellerAccount", "reference", "chargeMicros", "status", "serviceId")}
    FROM orders ORDER BY orders.order_id`,
});

/** A command as operations are written. */
function run(tx: Tx, command: Command, world: World): unknown {
  const accountOf = (user: number) => world.accounts[user]!;
  switch (command.name) {
    case "credit":
      return changeBalance(tx, accountOf(command.user), command.amount);
    case "order": {
      const account = accountOf(command.user);
      if (tx.row(orders.byReference, account, command.reference)) throw new No("taken");
      const service = tx.row(services.byKey, `service${command.service}`)!;
      const grant = tx.row(grants.byKey, service.id, account);
      const charge = (grant?.priceMicros ?? service.priceMicros) + command.amount;
      if (tx.row(users.byKey, account)!.balanceMicros < charge) throw new No("poor");
      tx.insert(orders, {
        id: createId(), resellerAccount: account, serviceId: service.id, serviceName: "s", priceMicros: 1, per: "1",
        link: "l", quantity: 1, chargeMicros: charge, status: "PROCESSING", remains: 1, createdAt: 1,
        placement: "manual", reference: command.reference,
      }); // prettier-ignore
      const left = changeBalance(tx, account, -charge);
      if (command.breaks) throw new No("broken");
      return left;
    }
    case "finish": {
      const order = tx.row(orders.byReference, accountOf(command.user), command.reference);
      if (!order) throw new No("absent");
      if (order.status !== "PROCESSING") throw new No("final");
      return tx.update(orders, order, { status: "COMPLETED", remains: 0 }).status;
    }
    case "grant": {
      const key = {
        serviceId: `service${command.service}`,
        resellerAccount: accountOf(command.user),
      };
      const grant = tx.row(grants.byKey, key.serviceId, key.resellerAccount);
      if (grant) tx.update(grants, grant, { priceMicros: command.price });
      else tx.insert(grants, { ...key, priceMicros: command.price, createdAt: 1 });
      return grant?.priceMicros ?? null;
    }
    case "revoke": {
      const grant = tx.row(grants.byKey, `service${command.service}`, accountOf(command.user));
      if (!grant) throw new No("absent");
      tx.delete(grants, grant);
      return grant.priceMicros;
    }
    case "price":
      return tx.update(
        services,
        { id: `service${command.service}` },
        { priceMicros: command.price },
      ).priceMicros;
    case "use": {
      const key = tx.row(keys.byKey, world.keys[command.user]!)!;
      if (key.lastUsedAt !== null && key.lastUsedAt > command.at - 10) return key.lastUsedAt;
      return tx.update(keys, key, { lastUsedAt: command.at }).lastUsedAt;
    }
    case "raise":
      return tx.run(RAISE, { below: command.below });
    case "count":
      return tx.one(OPEN, { resellerAccount: accountOf(command.user) })!.open;
    case "tryBoth": {
      const tried = tx.attempt(() => {
        changeBalance(tx, accountOf(command.user), 5);
        return changeBalance(tx, accountOf(command.other), -command.amount);
      });
      return "done" in tried ? tried.done : "undone";
    }
  }
}

function changeBalance(tx: Tx, account: number, change: number): number {
  const balanceMicros = tx.row(users.byKey, account)!.balanceMicros + BigInt(change);
  if (balanceMicros < 0n) throw new No("poor");
  return Number(tx.update(users, { account }, { balanceMicros }).balanceMicros);
}

interface World {
  accounts: number[];
  keys: string[];
}

async function makeWorld(store: TestStore): Promise<World> {
  const world = await store.run((tx) => {
    const accounts = Array.from({ length: USERS }, (_, user) => insertUser(tx, `user${user}`, 100));
    return { accounts, keys: accounts.map((account) => insertKey(tx, account)) };
  });
  await store.run((tx) => {
    for (let service = 0; service < SERVICES; service += 1) insertService(tx, `service${service}`);
    for (let service = 0; service < SERVICES; service += 1) {
      tx.update(services, { id: `service${service}` }, { priceMicros: 10 });
    }
  });
  return world;
}

/** The same rules without a database. */
class Model {
  balances = Array.from({ length: USERS }, () => 100);
  uses: (number | null)[] = Array.from({ length: USERS }, () => null);
  prices = Array.from({ length: SERVICES }, () => 10);
  grants = new Map<string, number>();
  orders: { user: number; service: number; reference: string; charge: number; status: string }[] =
    [];

  run(command: Command): unknown {
    switch (command.name) {
      case "credit":
        return (this.balances[command.user]! += command.amount);
      case "order": {
        const { user, service, reference, amount, breaks } = command;
        if (this.#order(user, reference)) throw new No("taken");
        const charge = (this.grants.get(`${service} ${user}`) ?? this.prices[service]!) + amount;
        if (this.balances[user]! < charge) throw new No("poor");
        if (breaks) throw new No("broken");
        this.orders.push({ user, service, reference, charge, status: "PROCESSING" });
        return (this.balances[user]! -= charge);
      }
      case "finish": {
        const order = this.#order(command.user, command.reference);
        if (!order) throw new No("absent");
        if (order.status !== "PROCESSING") throw new No("final");
        return (order.status = "COMPLETED");
      }
      case "grant": {
        const before = this.grants.get(`${command.service} ${command.user}`) ?? null;
        this.grants.set(`${command.service} ${command.user}`, command.price);
        return before;
      }
      case "revoke": {
        const before = this.grants.get(`${command.service} ${command.user}`);
        if (before === undefined) throw new No("absent");
        this.grants.delete(`${command.service} ${command.user}`);
        return before;
      }
      case "price":
        return (this.prices[command.service] = command.price);
      case "use": {
        const last = this.uses[command.user]!;
        if (last !== null && last > command.at - 10) return last;
        return (this.uses[command.user] = command.at);
      }
      case "raise": {
        const low = this.prices.filter((price) => price < command.below).length;
        this.prices = this.prices.map((price) => (price < command.below ? price + 1 : price));
        return low;
      }
      case "count":
        return this.orders.filter(
          (each) => each.user === command.user && each.status === "PROCESSING",
        ).length;
      case "tryBoth": {
        const { user, other, amount } = command;
        const left = this.balances[other]! + (user === other ? 5 : 0) - amount;
        if (left < 0) return "undone";
        this.balances[user]! += 5;
        return (this.balances[other]! -= amount);
      }
    }
  }

  #order(user: number, reference: string) {
    return this.orders.find((each) => each.user === user && each.reference === reference);
  }
}

const resultOf = (outcome: Outcome): unknown =>
  "done" in outcome
    ? outcome.done
    : `${(outcome.threw as Error).name}: ${(outcome.threw as Error).message}`;

let stores: { store: TestStore; world: World }[] = [];

beforeAll(async () => {
  stores = [];
});
afterAll(async () => {
  for (const { store } of stores) await store.close();
});

for (let seed = 1; seed <= SEEDS; seed += 1) {
  test(`random commands have the same result on every engine and in the model (seed ${seed})`, async () => {
    const opened = [];
    for (const engine of ENGINES) {
      const store = await freshStore(engine);
      opened.push({ store, world: await makeWorld(store) });
    }
    stores.push(...opened);
    const random = randomFrom(seed);
    const model = new Model();
    for (let batch = 0; batch < BATCHES; batch += 1) {
      const commands = Array.from({ length: 1 + below(random, BATCH_LIMIT) }, () =>
        anyCommand(random),
      );
      const expected = commands.map((command) => {
        try {
          return model.run(command);
        } catch (error) {
          return resultOf({ threw: error });
        }
      });
      for (const { store, world } of opened) {
        const outcomes = await store.batch(
          ...commands.map((each) => (tx: Tx) => run(tx, each, world)),
        );
        expect([store.engine, batch, commands, outcomes.map(resultOf)]).toEqual([
          store.engine,
          batch,
          commands,
          expected,
        ]);
      }
    }
    for (const { store, world } of opened) {
      const found = await store.read((reader) => ({
        balances: world.accounts.map((account) =>
          Number(reader.row(users.byKey, account)!.balanceMicros),
        ),
        uses: world.keys.map((id) => reader.row(keys.byKey, id)!.lastUsedAt),
        prices: model.prices.map(
          (_, each) => reader.row(services.byKey, `service${each}`)!.priceMicros,
        ),
        orders: reader.all(ALL_ORDERS).map((order) => ({
          user: world.accounts.indexOf(order.resellerAccount),
          service: Number(order.serviceId.at(-1)),
          reference: order.reference as string,
          charge: order.chargeMicros,
          status: order.status as string,
        })),
      }));
      const { balances, uses, prices, orders: placed } = model;
      expect(found).toEqual({ balances, uses, prices, orders: placed });
    }
  });
}
