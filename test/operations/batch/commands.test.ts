// A batch is one transaction: what has a reply is committed, and only the command that fails is rolled back.

import { beforeEach, expect, test } from "bun:test";
import { createId } from "../../../src/db/port/ids.ts";
import { findUser } from "../../../src/db/users/users.ts";
import { commands } from "../../../src/operations/batch/command-table.ts";
import type { Reply, CommandRequest } from "../../../src/operations/batch/commands.ts";
import { audit } from "../../support/databases/audit.ts";
import { freshDatabase, type TestDatabase } from "../../support/databases/test-database.ts";

let database: TestDatabase;
let place: (link: string, changes?: object) => CommandRequest;

beforeEach(() => {
  database = freshDatabase();
  database.user("anna", "1");
  const service = database.service();
  const { account } = database.read((reader) => findUser(reader, "anna"))!;
  const { id } = database.key("anna", "order");
  const order = { resellerAccount: account, keyId: id, service, quantity: 100 };
  place = (link, changes) => ({
    name: "placeOrder",
    input: { ...order, link, ...changes },
    ids: [createId()],
  });
});

const kindOf = (reply: Reply) => Object.keys(reply)[0];
const run = (requests: CommandRequest[]) => database.batch(requests, 1);
const links = () =>
  database.query("SELECT link FROM orders ORDER BY order_id").map(({ link }) => link);

test("replies come in the order of the batch, each its own command's", () => {
  const replies = run([place("a"), place("b", { quantity: 9 }), place("c")]);
  expect(replies).toMatchObject([
    { done: { link: "a" } },
    { refused: "quantity_below_minimum", details: { min: 10 } },
    { done: { link: "c" } },
  ]);
  expect(links()).toEqual(["a", "c"]);
});

test("commands of a batch see each other: the balance is spent once", () => {
  const requests = Array.from({ length: 10 }, (_, index) => place(`${index}`));
  const kinds = run(requests).map(kindOf);
  expect(kinds).toEqual([...Array<string>(4).fill("done"), ...Array<string>(6).fill("refused")]);
  expect(database.balance("anna")).toBe(1_000_000 - 4 * 232_000);
  expect(audit(database)).toEqual({});
});

test("a batch of refusals writes nothing", () => {
  const before = database.fingerprint();
  const replies = run([place("a", { service: "none" }), place("b", { quantity: 10_001 })]);
  expect(replies.map(kindOf)).toEqual(["refused", "refused"]);
  expect(database.fingerprint()).toBe(before);
});

test("a command whose input makes it throw is rolled back, and the other commands are committed", () => {
  const broken: CommandRequest = { name: "placeOrder", input: null, ids: [] };
  const unknown = { name: "noSuchCommand", input: {}, ids: [] } as unknown as CommandRequest;
  const replies = run([place("a"), broken, unknown, place("c")]);
  expect(replies.map(kindOf)).toEqual(["done", "failed", "failed", "done"]);
  expect(links()).toEqual(["a", "c"]);
});

test("no two folders have a command of the same name", async () => {
  const folder = new URL("../../../src/operations/", import.meta.url).pathname;
  const files = [...new Bun.Glob("*/commands.ts").scanSync(folder)].filter(
    (file) => !file.startsWith("batch/"),
  );
  const tables = await Promise.all(files.map((file) => import(folder + file)));
  const names = tables.flatMap((table: { commands: object }) => Object.keys(table.commands));
  expect(names.length).toBeGreaterThan(90);
  expect(new Set(names).size).toBe(names.length);
  expect(Object.keys(commands)).toEqual(expect.arrayContaining(names));
});
