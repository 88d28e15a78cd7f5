// What the row port promises, on every engine.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  needLock,
  needNumbers,
  needRow,
  PortError,
  UniqueError,
} from "../../../src/db/port/port.ts";
import { fields, query, select, statement } from "../../../src/db/port/query.ts";
import { number, numbers, text, texts } from "../../../src/db/port/table-definition.ts";
import { grants, services } from "../../../src/db/tables/catalogue.ts";
import { servers } from "../../../src/db/tables/database.ts";
import { attempts } from "../../../src/db/tables/delivery.ts";
import { accounts, transfers } from "../../../src/db/tables/ledger.ts";
import { lateReports, orderEvents, orders } from "../../../src/db/tables/orders.ts";
import { providers } from "../../../src/db/tables/providers.ts";
import { keys, users } from "../../../src/db/tables/users.ts";
import { createId } from "../../../src/db/port/ids.ts";
import {
  ENGINES,
  freshStore,
  insertKey,
  insertService,
  insertUser,
  type TestStore,
} from "../../support/databases/stores.ts";
import type { Tx } from "../../../src/db/port/port.ts";

const ALL_USERS = query({
  columns: fields(users, "account", "username"),
  text: `SELECT ${select(users, "account", "username")} FROM users ORDER BY users.account`,
});
const ORDERS_OF = query({
  parameters: { orderId: number },
  columns: { attempts: number },
  restrictedBy: ["orderId"],
  text: `SELECT count(*) AS attempts FROM attempts WHERE order_id = :orderId`,
});

function order(account: number, service: string, reference: string | null = null) {
  return {
    id: createId(),
    resellerAccount: account,
    serviceId: service,
    serviceName: "Followers",
    priceMicros: 1000,
    per: "1" as const,
    link: 'https://example.com/"quoted\\, {braces} é 😀',
    quantity: 10,
    chargeMicros: 0,
    status: "PROCESSING" as const,
    remains: 10,
    createdAt: 1,
    placement: "manual" as const,
    reference,
  };
}

function provider(tx: Tx, name: string): number {
  return tx.insert(providers, {
    name,
    protocol: "smm",
    url: "https://provider.example",
    key: "k",
    createdAt: 1,
  }).providerId;
}

for (const engine of ENGINES) {
  describe(`the row port on ${engine}`, () => {
    let store: TestStore;
    let account: number;
    let service: string;
    beforeAll(async () => {
      store = await freshStore(engine);
      account = await store.run((tx) => insertUser(tx, "Owner", 1_000_000));
      service = await store.run((tx) => insertService(tx));
    });
    afterAll(() => store.close());

    test("reads what the same command, and the same batch, wrote", async () => {
      const outcomes = await store.batch(
        (tx) => {
          const placed = tx.insert(orders, order(account, service, "own"));
          expect(tx.row(orders.byReference, account, "own")).toEqual(placed);
          const moved = tx.update(orders, placed, { startCount: 7 });
          expect(tx.row(orders.byId, placed.id)).toEqual(moved);
          return placed.orderId;
        },
        (tx) => tx.row(orders.byReference, account, "own")!.startCount,
      );
      expect(outcomes[1]).toEqual({ done: 7 });
      const { orderId, link } = (await store.read((reader) =>
        reader.row(orders.byReference, account, "own"),
      ))!;
      expect({ done: orderId }).toEqual(outcomes[0] as never);
      expect(link).toBe(order(account, service).link);
    });

    test("undoes a command that throws, all of it and nothing else", async () => {
      const outcomes = await store.batch(
        (tx) => tx.update(users, { account }, { balanceMicros: 500n }),
        (tx) => {
          tx.update(users, { account }, { balanceMicros: 1n });
          tx.insert(orders, order(account, service, "undone"));
          throw new Error("on purpose");
        },
        (tx) => {
          expect(tx.row(orders.byReference, account, "undone")).toBeUndefined();
          const { balanceMicros } = tx.row(users.byKey, account)!;
          return tx.update(users, { account }, { balanceMicros: balanceMicros + 1n }).balanceMicros;
        },
      );
      expect(outcomes.map((each) => "done" in each)).toEqual([true, false, true]);
      expect((outcomes[2] as { done: bigint }).done).toBe(501n);
      const user = await store.read((reader) => reader.row(users.byKey, account));
      expect(user!.balanceMicros).toBe(501n);
      expect(await store.query("SELECT 1 FROM orders WHERE reference = 'undone'")).toEqual([]);
    });

    test("no later command reads a row that an undone command wrote", async () => {
      const grant = { serviceId: service, resellerAccount: account };
      const id = createId();
      await store.run((tx) => tx.insert(grants, { ...grant, createdAt: 1 }));
      const outcomes = await store.batch(
        (tx) => {
          tx.insert(orders, { ...order(account, service, "ghost"), id });
          tx.delete(grants, grant);
          const seen = [tx.row(orders.byId, id), tx.row(orders.byReference, account, "ghost")];
          expect(seen.map((each) => each?.id)).toEqual([id, id]);
          expect(tx.row(grants.byKey, service, account)).toBeUndefined();
          throw new Error("on purpose");
        },
        (tx) => [
          tx.row(orders.byId, id),
          tx.row(orders.byReference, account, "ghost"),
          tx.row(grants.byKey, service, account)?.serviceId,
        ],
      );
      expect(outcomes[1]).toEqual({ done: [undefined, undefined, service] });
      await store.run((tx) => tx.delete(grants, grant));
    });

    test("undoes only an attempt, not the rest of its command", async () => {
      await store.run((tx) => {
        tx.update(users, { account }, { balanceMicros: 10n });
        const tried = tx.attempt(() => {
          tx.update(users, { account }, { balanceMicros: 20n });
          insertUser(tx, "tried");
          throw new Error("on purpose");
        });
        expect(tried).toEqual({ threw: new Error("on purpose") });
        expect(tx.row(users.byKey, account)!.balanceMicros).toBe(10n);
        expect(tx.row(users.byUsername, "tried")).toBeUndefined();
      });
      expect((await store.read((reader) => reader.row(users.byKey, account)))!.balanceMicros).toBe(
        10n,
      );
    });

    test("undoes only one command, even if earlier ones' writes were sent to the database for it", async () => {
      const before = await store.read((reader) => reader.row(users.byKey, account)!.balanceMicros);
      const outcomes = await store.batch(
        (tx) => void tx.update(users, { account }, { balanceMicros: before + 7n }),
        (tx) => {
          tx.all(ALL_USERS);
          insertKey(tx, account);
          throw new Error("on purpose");
        },
      );
      expect(outcomes).toEqual([{ done: undefined }, { threw: new Error("on purpose") }]);
      const after = await store.read((reader) => reader.row(users.byKey, account)!.balanceMicros);
      expect(after).toBe(before + 7n);
    });

    test("writes a balance after undoing an attempt that had sent part of it to the database", async () => {
      await store.run((tx) => tx.update(users, { account }, { balanceMicros: 100n }));
      await store.run((tx) => {
        const tried = tx.attempt(() => {
          tx.attempt(() => tx.update(users, { account }, { balanceMicros: 90n }));
          tx.attempt(() => tx.update(users, { account }, { balanceMicros: 80n }));
          throw new Error("on purpose");
        });
        expect(tried).toEqual({ threw: new Error("on purpose") });
        // The value of the first attempt, which the database does not hold any more.
        tx.update(users, { account }, { balanceMicros: 90n });
      });
      const after = await store.read((reader) => reader.row(users.byKey, account)!.balanceMicros);
      expect(after).toBe(90n);
    });

    test("commits a batch whole although it read nothing before it wrote", async () => {
      const id = createId();
      const outcomes = await store.batch(
        (tx) => tx.insert(servers, { id, name: "one", startedAt: 1, leaseUntil: 1 }).id,
        // Refers to a missing order.
        (tx) => {
          const row = { orderId: 999_999, reported: "FAILED", status: "FAILED", createdAt: 1 };
          return tx.insert(lateReports, row as never);
        },
      );
      expect(outcomes).toEqual([{ done: id }, { threw: expect.any(Error) as unknown }]);
    });

    test("undoes the statement of a command that throws after it", async () => {
      const raise = statement({
        writes: [services],
        text: "UPDATE services SET price_micros = price_micros + 1",
      });
      const price = () => store.read((reader) => reader.row(services.byKey, service)!.priceMicros);
      const before = await price();
      const outcomes = await store.batch(
        (tx) => tx.row(users.byKey, account)!.username,
        (tx) => {
          tx.run(raise);
          throw new Error("on purpose");
        },
        (tx) => tx.row(services.byKey, service)!.priceMicros,
      );
      expect(outcomes).toEqual([
        { done: "Owner" },
        { threw: new Error("on purpose") },
        { done: before },
      ]);
      expect(await price()).toBe(before);
    });

    test("finds existing rows by every unique index, and no others", async () => {
      const found = await store.run((tx) => {
        const id = insertKey(tx, account);
        tx.insert(grants, { serviceId: service, resellerAccount: account, createdAt: 1 });
        return { id, providerId: provider(tx, "Acme") };
      });
      await store.read((reader) => {
        expect(reader.row(orders.byKey, 999_999)).toBeUndefined();
        expect(reader.row(orders.byReference, account, "nobody's")).toBeUndefined();
        expect(reader.row(users.byUsername, "OWNER")!.account).toBe(account);
        expect(reader.row(providers.byName, "aCmE")!.providerId).toBe(found.providerId);
        const key = reader.row(keys.byKey, found.id)!;
        expect(key).toMatchObject({ active: true, lastUsedAt: null, resellerAccount: account });
        expect(reader.row(keys.byHash, key.hash)).toEqual(key);
        expect(reader.row(grants.byKey, service, account)).toEqual({
          serviceId: service,
          resellerAccount: account,
          priceMicros: null,
          createdAt: 1,
        });
      });
      await store.run((tx) => tx.delete(grants, { serviceId: service, resellerAccount: account }));
      expect(await store.query("SELECT * FROM grants")).toEqual([]);
    });

    test("refuses what breaks a unique index, of the table or of the batch, and keeps the rest", async () => {
      await store.run((tx) => insertUser(tx, "Taken"));
      const outcomes = await store.batch(
        (tx) => insertUser(tx, "taken"),
        (tx) => insertUser(tx, "fresh"),
        (tx) => {
          tx.row(users.byUsername, "FRESH");
          insertUser(tx, "FRESH");
        },
        (tx) => insertUser(tx, "other"),
      );
      expect(outcomes.map((each) => "done" in each)).toEqual([false, true, false, true]);
      const names = await store.read((reader) => reader.all(ALL_USERS));
      expect(names.map(({ username }) => username)).toEqual(["Owner", "Taken", "fresh", "other"]);
      expect([UniqueError.name, "SQLiteError"]).toContain(
        ((outcomes[2] as { threw: Error }).threw as Error).name,
      );
    });

    test("gives numbers that grow in the order of the commits", async () => {
      const place = (tx: Tx) => tx.insert(orders, order(account, service)).orderId;
      const seen: number[] = [];
      for (let batch = 0; batch < 5; batch += 1) {
        const outcomes = await store.batch(place, place, place);
        seen.push(...outcomes.map((each) => (each as { done: number }).done));
      }
      expect(seen).toEqual([...new Set(seen)].sort((a, b) => a - b));
      expect(seen.length).toBe(15);
    });

    test("refuses a query of rows that its own command wrote, and a statement after a write", async () => {
      const clear = statement({
        writes: [grants],
        text: "DELETE FROM grants WHERE created_at < 0",
      });
      const queried = store.run((tx) => {
        insertUser(tx, "late");
        return tx.all(ALL_USERS);
      });
      expect(queried).rejects.toBeInstanceOf(PortError);
      await queried.catch(() => {});
      const ran = store.run((tx) => {
        insertUser(tx, "late");
        return tx.run(clear);
      });
      expect(ran).rejects.toBeInstanceOf(PortError);
      await ran.catch(() => {});
      expect(await store.query("SELECT 1 FROM users WHERE username = 'late'")).toEqual([]);
    });

    test("refuses to read what a statement of the same command wrote", async () => {
      const clear = statement({
        writes: [grants],
        text: "DELETE FROM grants WHERE created_at < 0",
      });
      const all = query({
        columns: fields(grants, "serviceId"),
        text: `SELECT ${select(grants, "serviceId")} FROM grants`,
      });
      const reads = [(tx: Tx) => tx.row(grants.byKey, service, account), (tx: Tx) => tx.one(all)];
      for (const read of reads) {
        const outcomes = await store.batch((tx) => [tx.run(clear), read(tx)], read);
        expect(outcomes[0]).toEqual({ threw: expect.any(PortError) as unknown });
        expect(outcomes[1]).toHaveProperty("done");
      }
    });

    test("lets a query see what earlier commands of its batch wrote", async () => {
      const outcomes = await store.batch(
        (tx) => insertUser(tx, "seen"),
        (tx) => tx.all(ALL_USERS).map(({ username }) => username),
        (tx) => insertUser(tx, "after"),
      );
      expect((outcomes[1] as { done: string[] }).done).toContain("seen");
      expect("done" in outcomes[2]!).toBe(true);
    });

    test("runs a statement over many rows, among other commands, and says how many it changed", async () => {
      const expire = statement({
        parameters: { before: number },
        writes: [services],
        text: "UPDATE services SET name = 'old' WHERE created_at < :before",
      });
      const outcomes = await store.batch(
        (tx) => insertService(tx, "one"),
        (tx) => tx.run(expire, { before: 2 }) + tx.run(expire, { before: 0 }),
        (tx) => tx.row(services.byKey, "one")!.name,
      );
      expect(outcomes).toEqual([{ done: "one" }, { done: 2 }, { done: "old" }]);
    });

    test("takes lists as parameters, and quotes, braces and blanks in them", async () => {
      const odd = ['a"b', "c\\d", "{e,f}", " g ", "NULL", ""];
      const byIds = query({
        parameters: { accounts: numbers, names: texts, like: text },
        columns: fields(users, "account"),
        text: `SELECT ${select(users, "account")} FROM users
          WHERE users.account IN (:accounts) AND users.username NOT IN (:names) AND users.name <> :like`,
      });
      const rows = await store.read((reader) =>
        reader.all(byIds, { accounts: [account, 999], names: odd, like: odd[0]! }),
      );
      expect(rows).toEqual([{ account }]);
      const none = await store.read((reader) =>
        reader.all(byIds, { accounts: [], names: [], like: "" }),
      );
      expect(none).toEqual([]);
    });

    test("finds the attempt that was sent, and counts an order's attempts beside others' writes", async () => {
      const orderIds = await store.run((tx) => {
        const providerId = provider(tx, "Sender");
        return [1, 2].map(
          () =>
            tx.insert(orders, {
              ...order(account, service),
              status: "PENDING",
              placement: "queued",
              providerId,
              providerService: "9",
              nextSubmitAt: 1,
            }).orderId,
        );
      });
      const begin = (orderId: number) => (tx: Tx) => {
        const { attempts: tries } = tx.one(ORDERS_OF, { orderId })!;
        tx.update(orders, { orderId }, { placement: "sending", nextSubmitAt: null });
        const { providerId, providerService } = tx.row(orders.byKey, orderId)!;
        const route = { providerId: providerId!, providerService: providerService! };
        tx.insert(attempts, { orderId, outcome: "sending", startedAt: 1, ...route });
        return tries;
      };
      const finish = (orderId: number) => (tx: Tx) => {
        const attempt = tx.row(attempts.bySentOrder, orderId)!;
        tx.update(orders, { orderId }, { placement: "queued", nextSubmitAt: 5 });
        tx.update(attempts, attempt, { outcome: "not_sent", finishedAt: 2 });
        return tx.row(attempts.bySentOrder, orderId) === undefined;
      };
      expect(await store.batch(...orderIds.map(begin))).toEqual([{ done: 0 }, { done: 0 }]);
      expect(await store.batch(...orderIds.map(finish))).toEqual([{ done: true }, { done: true }]);
      expect(await store.batch(...orderIds.map(begin))).toEqual([{ done: 1 }, { done: 1 }]);
    });

    test("writes every step of a row that moves twice in a batch", async () => {
      const orderId = await store.run((tx) => tx.insert(orders, order(account, service)).orderId);
      const move = (status: "COMPLETED" | "REFUNDED") => (tx: Tx) => {
        const { status: fromStatus } = tx.row(orders.byKey, orderId)!;
        tx.update(orders, { orderId }, { status, remains: 0 });
        tx.insert(orderEvents, { orderId, fromStatus, toStatus: status, createdAt: 1 });
      };
      const outcomes = await store.batch(move("COMPLETED"), move("REFUNDED"));
      expect(outcomes).toEqual([{ done: undefined }, { done: undefined }]);
      const events = await store.query(
        `SELECT from_status, to_status FROM order_events WHERE order_id = ${orderId} ORDER BY seq`,
      );
      expect(events).toEqual([
        { from_status: "PROCESSING", to_status: "COMPLETED" },
        { from_status: "COMPLETED", to_status: "REFUNDED" },
      ]);
    });

    test("fails only the command that the tables refuse", async () => {
      const outcomes = await store.batch(
        (tx) => tx.update(users, { account }, { balanceMicros: 900n }),
        (tx) => tx.insert(transfers, {
          debitAccount: account, creditAccount: account, amountMicros: 1, kind: "adjustment", createdAt: 1, balanceAfterMicros: 1n,
        }),
        (tx) => tx.update(users, { account }, { name: "Renamed" }),
      ); // prettier-ignore
      expect(outcomes.map((each) => "done" in each)).toEqual([true, false, true]);
      const user = await store.read((reader) => reader.row(users.byKey, account));
      expect(user).toMatchObject({ balanceMicros: 900n, name: "Renamed" });
    });

    test("returns the same row by every index, also when it was looked for before it existed", async () => {
      const found = await store.run((tx) => {
        expect(tx.row(users.byUsername, "latecomer")).toBeUndefined();
        const made = insertUser(tx, "latecomer");
        expect(tx.row(users.byUsername, "Latecomer")!.account).toBe(made);
        tx.update(users, { account: made }, { balanceMicros: 3n });
        return [tx.row(users.byUsername, "latecomer"), tx.row(users.byKey, made)];
      });
      expect(found.map((row) => row!.balanceMicros)).toEqual([3n, 3n]);
    });

    test("declared needs only improve speed: results are the same without them", async () => {
      const run = (tx: Tx) => {
        const placed = tx.insert(orders, order(account, service));
        const { balanceMicros } = tx.row(users.byKey, account)!;
        tx.update(users, { account }, { balanceMicros: balanceMicros + 1n });
        return placed.orderId;
      };
      const needs = [needLock(account), needRow(users.byKey, account), needNumbers(orders)];
      const before = (await store.read((reader) => reader.row(users.byKey, account)))!;
      const outcomes = await store.runBatch([{ run, needs }, { run }, { run, needs }]);
      expect(outcomes.every((each) => "done" in each)).toBe(true);
      const after = (await store.read((reader) => reader.row(users.byKey, account)))!;
      expect(after.balanceMicros).toBe(before.balanceMicros + 3n);
    });

    test("refuses a transaction that is asynchronous", async () => {
      // oxlint-disable-next-line typescript/no-misused-promises -- what the types refuse
      const [outcome] = await store.batch(async (tx) => {
        insertUser(tx, "never");
        await Promise.resolve();
      });
      expect((outcome as { threw: Error }).threw).toBeInstanceOf(PortError);
      expect(await store.query("SELECT 1 FROM users WHERE username = 'never'")).toEqual([]);
      expect(
        await store.query("SELECT count(*) AS n FROM accounts WHERE kind = 'cash'"),
      ).toHaveLength(1);
      expect(accounts.name).toBe("accounts");
    });
  });
}
