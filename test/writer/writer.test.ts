// The writer: responses after the commit, the limit of the queue, and errors of the thread.

import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createKeyFinder } from "../../src/db/sqlite/key-cache.ts";
import { createSnapshot } from "../../src/db/sqlite/snapshot.ts";
import { openReader } from "../../src/storage/file/open.ts";
import { findUser } from "../../src/db/users/users.ts";
import { Refusal } from "../../src/domain/values/error-table.ts";
import { startServer } from "../../src/http/server/server.ts";
import { smmApiRoutes } from "../../src/http/smm-api/routes.ts";
import { smmClientOf } from "../support/http/smm-client.ts";
import type { CommandInput } from "../../src/operations/batch/commands.ts";
import { CommandError } from "../../src/writer/queue.ts";
import { startWriter, type Writer } from "../../src/writer/writer.ts";
import { audit } from "../support/databases/audit.ts";
import { bundledThread } from "../support/bundles.ts";
import { damageTables } from "../support/databases/damage.ts";
import { apiOf } from "../support/worlds/service.ts";
import { callApi } from "../support/http/api.ts";
import { freshDatabase, OPERATOR, type TestDatabase } from "../support/databases/test-database.ts";
import { expectError } from "../support/http/refusal.ts";

const DYING_THREAD = new URL("./dying-thread.ts", import.meta.url);

let database: TestDatabase;
let key: { id: string; text: string };
let order: (link?: string) => CommandInput<"placeOrder">;
let deaths: string[];
const writers: Writer[] = [];

beforeEach(() => {
  database = freshDatabase();
  database.user("anna", "1000");
  const service = database.service();
  const { account } = findUser(database.connection.store.reader, "anna")!;
  key = database.key("anna", "full");
  order = (link = "x") => {
    return { resellerAccount: account, keyId: key.id, service, link, quantity: 100 };
  };
  deaths = [];
});

afterEach(async () => {
  await Promise.all(writers.splice(0).map((writer) => writer.close()));
});

async function start(thread?: URL, queueLimit?: number): Promise<Writer> {
  const writer = await startWriter({
    path: database.connection.path,
    thread: thread ?? (await bundledThread()),
    onFatal: (cause) => deaths.push(cause),
    ...(queueLimit === undefined ? {} : { queueLimit }),
  });
  writers.push(writer);
  return writer;
}

/** What became of a promise: `done`, the refusal's code, or `fault`. */
const fateOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => "done",
    (error: unknown) => {
      if (error instanceof Refusal) return error.code;
      if (error instanceof CommandError) return "fault";
      throw error;
    },
  );

const fatesOf = (promises: Promise<unknown>[]) => Promise.all(promises.map(fateOf));

describe("a response", () => {
  test("comes only after its commit: another connection sees it at once", async () => {
    const writer = await start();
    const other = new Database(database.connection.path, { readonly: true });
    const query = other.query("SELECT count(*) AS orders FROM orders WHERE id = ?");
    for (let round = 0; round < 20; round++) {
      const { id } = await writer.submit("placeOrder", order());
      expect(query.get(id)).toEqual({ orders: 1 });
    }
    other.close();
  });

  test("does not come while the commit has to wait", async () => {
    const writer = await start();
    const { sqlite } = database.connection;
    sqlite.run("BEGIN IMMEDIATE");
    let answered = false;
    const answer = writer.submit("placeOrder", order()).then(() => (answered = true));
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(answered).toBe(false);
    sqlite.run("COMMIT");
    expect(await answer).toBe(true);
  });

  test("goes to the command it belongs to, in more than one batch", async () => {
    const writer = await start();
    const links = Array.from({ length: 1500 }, (_, index) => `link ${index}`);
    const orders = await Promise.all(links.map((link) => writer.submit("placeOrder", order(link))));
    expect(orders.map(({ link }) => link)).toEqual(links);
    expect(database.balance("anna")).toBe(1_000_000_000 - 1500 * 232_000);
    expect(audit(database)).toEqual({});
  });
});

test("a command that throws affects no other command of its batch, and its text reaches the log only", async () => {
  database.connection.sqlite.run(
    `CREATE TRIGGER trap BEFORE INSERT ON transfers
     WHEN (SELECT link FROM orders WHERE order_id = NEW.order_id) = 'boom'
     BEGIN SELECT RAISE(ABORT, 'trapped'); END`,
  );
  const writer = await start();
  const fates = await fatesOf(
    ["a", "boom", "b", "boom", "c"].map((link) => writer.submit("placeOrder", order(link))),
  );
  expect(fates).toEqual(["done", "fault", "done", "fault", "done"]);
  expect(database.balance("anna")).toBe(1_000_000_000 - 3 * 232_000);
  expect(audit(database)).toEqual({});
  const fault = writer.submit("placeOrder", order("boom")).catch((error: Error) => error.message);
  expect(await fault).toContain("trapped");
  expect(deaths).toEqual([]);
});

describe("past the limit of the queue", () => {
  test("a command is refused at once, queued ones are carried out, then there is room again", async () => {
    const writer = await start(undefined, 5);
    const sent = Array.from({ length: 8 }, () => writer.submit("placeOrder", order()));
    const refused = fatesOf(sent.slice(5));
    const first = await Promise.race([refused, fateOf(sent[0]!)]);
    expect(first).toEqual(["service_unavailable", "service_unavailable", "service_unavailable"]);
    expect(await fatesOf(sent.slice(0, 5))).toEqual(Array<string>(5).fill("done"));
    expect(await fateOf(writer.submit("placeOrder", order()))).toBe("done");
    expect(database.balance("anna")).toBe(1_000_000_000 - 6 * 232_000);
  });

  test("a caller over HTTP gets 503 with Retry-After, reads go on, and nothing is changed", async () => {
    const writer = await start(undefined, 0);
    const connection = openReader(database.connection.path);
    const snapshot = createSnapshot(connection);
    const findKey = createKeyFinder(connection.store.reader, snapshot);
    const api = apiOf({ store: snapshot, findKey, writer });
    const server = startServer(api, { hostname: "127.0.0.1", port: 0 }, null, {
      routes: smmApiRoutes(api),
    });
    const url = `http://127.0.0.1:${server.port}`;
    const before = database.fingerprint();
    const { service } = order();
    const requests = [
      ["/orders", { service, link: "x", quantity: 100 }],
      ["/recharge", { username: "anna", amount: 1 }],
    ] as const;
    for (const [path, body] of requests) {
      const answer = await callApi(url, "POST", path, key.text, body);
      expectError(answer, 503, "Service temporarily unavailable");
      expect(answer.headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
      expect(answer.headers.get("content-type")).toBe("application/json");
    }
    const panel = smmClientOf(url, key.text);
    const added = await panel("add", { service: "1", link: "x", quantity: "100" });
    expect([added.status, added.body]).toEqual([503, { error: "Service temporarily unavailable" }]);
    expect(added.headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
    expect((await panel("balance")).body.balance).toBe("1000");
    expect((await callApi(url, "GET", "/balance", key.text)).body.balance).toBe(1000);
    expect(database.fingerprint()).toBe(before);
    await server.stop();
    connection.sqlite.close();
  });
});

describe("when the thread", () => {
  test.each([
    ["throws", "the thread broke"],
    ["ends", "the writer thread ended"],
    ["reports", "the disk failed"],
  ])(
    "%s, onFatal is called once; sent commands are faults, waiting and new ones are refused",
    async (how, cause) => {
      const writer = await start(DYING_THREAD);
      const submit = (id: string) =>
        writer.submit("setKeyActive", { id, active: true, actor: OPERATOR });
      const sent = fateOf(submit(how));
      await new Promise((resolve) => setImmediate(resolve));
      const waiting = fatesOf([submit("a"), submit("b")]);
      // Whether the command in flight was committed is not known: no 503, which means that it was not.
      expect(await sent).toBe("fault");
      expect(await waiting).toEqual(["service_unavailable", "service_unavailable"]);
      expect(await fatesOf([submit("c"), submit("d")])).toEqual([
        "service_unavailable",
        "service_unavailable",
      ]);
      expect(deaths.length).toBe(1);
      expect(deaths[0]).toContain(cause);
      await writer.close();
      expect(deaths.length).toBe(1);
    },
  );

  test("cannot open the database, starting fails", async () => {
    database.connection.sqlite.close();
    const nowhere = startWriter({
      path: `${database.folder}/none/reseller.db`,
      thread: await bundledThread(),
      onFatal: (cause) => deaths.push(cause),
    });
    expect(await nowhere.catch((error: Error) => error.message)).toContain("cannot be opened");
  });

  test("finds the database damaged, onFatal is called and no command is reported as done", async () => {
    const { sqlite, path } = database.connection;
    sqlite.run("PRAGMA wal_checkpoint(TRUNCATE)");
    sqlite.close();
    const writer = await start();
    damageTables(path, ["orders"]);
    expect(await fateOf(writer.submit("placeOrder", order()))).toBe("fault");
    expect(deaths.length).toBe(1);
    expect(await fateOf(writer.submit("placeOrder", order()))).toBe("service_unavailable");
  });
});

describe("close", () => {
  test("runs queued commands, accepts no new ones, and leaves no WAL behind", async () => {
    const writer = await start();
    const sent = Array.from({ length: 600 }, () => writer.submit("placeOrder", order()));
    const closed = writer.close();
    const late = fateOf(writer.submit("placeOrder", order()));
    expect(await fatesOf(sent)).toEqual(Array<string>(600).fill("done"));
    expect(await late).toBe("service_unavailable");
    await closed;
    expect(Bun.file(`${database.connection.path}-wal`).size).toBe(0);
    expect(database.balance("anna")).toBe(1_000_000_000 - 600 * 232_000);
    expect(deaths).toEqual([]);
  });
});
