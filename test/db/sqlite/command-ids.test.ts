// The ids of commands that are run again after SQLite rolled their whole transaction back.

import { expect, test } from "bun:test";
import { createCommandIds } from "../../../src/operations/batch/execute.ts";
import { findUser } from "../../../src/db/users/users.ts";
import type {
  CommandInput,
  CommandName,
  CommandRequest,
} from "../../../src/operations/batch/commands.ts";
import { freshSqliteDatabase, OPERATOR } from "../../support/databases/test-database.ts";

function requestOf<Name extends CommandName>(name: Name, input: object): CommandRequest {
  const signed = { actor: OPERATOR, ...input } as unknown as CommandInput<Name>;
  return { name, input: signed, ids: createCommandIds(name, signed) };
}

test("a command that is run again after its transaction was lost creates the same ids", () => {
  const database = freshSqliteDatabase();
  database.user("anna", "10");
  database.service({ id: "likes" });
  const { id: keyId } = database.key("anna", "full");
  const { account: resellerAccount } = database.read((reader) => findUser(reader, "anna"))!;
  const order = { resellerAccount, keyId, service: "likes", link: "l", quantity: 10 };
  const claim = { key: "k", requestHash: "0".repeat(64) };
  const entries = [{ order }, { refused: "body_malformed", details: null }, { order }];
  const commands = [
    { request: requestOf("createUser", { username: "bert", name: "B", parent: null }), creates: 1 },
    { request: requestOf("placeOrder", order), creates: 1 },
    { request: requestOf("placeOrderForResponse", order), creates: 1 },
    { request: requestOf("placeOrderOnce", { order, claim }), creates: 1 },
    {
      request: requestOf("placeOrderOnceForResponse", { order, claim: { ...claim, key: "l" } }),
      creates: 1,
    },
    { request: requestOf("placeOrders", { keyId, entries }), creates: 2 },
  ];
  const storedIds = () =>
    ["users", "orders"].flatMap((table) =>
      database.query<{ id: string }>(`SELECT id FROM ${table}`).map(({ id }) => id),
    );
  const before = storedIds();
  const { sqlite } = database.connection;
  sqlite.run(
    "CREATE TRIGGER trap BEFORE INSERT ON orders BEGIN SELECT RAISE(ROLLBACK, 'trapped'); END",
  );
  const run = (requests: CommandRequest[]) => database.batch(requests, Date.now());
  // The batch is lost with the first order; each command that places none is then run by itself.
  const requests = commands.map(({ request }) => request);
  const replies = run(requests);
  const lost = requests.filter((_, index) => !("done" in replies[index]!));
  expect(lost.length).toBeGreaterThan(0);
  expect(lost.length).toBeLessThan(requests.length);
  sqlite.run("DROP TRIGGER trap");
  expect(run(lost).every((reply) => "done" in reply)).toBe(true);
  const carried = commands.flatMap(({ request, creates }) => request.ids.slice(0, creates));
  expect(storedIds().toSorted()).toEqual([...before, ...carried].toSorted());
});
