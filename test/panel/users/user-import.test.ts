// The page on which an owner imports users with starting credits.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { users } from "../../../src/db/tables/users.ts";
import { dumpOf } from "../../support/databases/test-database.ts";
import { openPanel, type TestPanel } from "../../support/worlds/panel.ts";

let panel: TestPanel;

beforeAll(async () => {
  panel = await openPanel({ role: "owner" });
  panel.user("alice", "10");
});
afterAll(() => panel.stop());

const PATH = "/import-users";
const post = (csv: string) => panel.post(PATH, { csv });
const balances = () =>
  panel.query("SELECT username, balance_micros AS balance FROM users WHERE test_of IS NULL ORDER BY username"); // prettier-ignore

const confirmed = (csv: string) => panel.confirm(PATH, { csv });

const CSV = "username,parent,credit,reference\nbob,,25.5,old-1\nkid,bob,,\nalice,,1,old-2\n";

test("nobody is created before it is confirmed, and a list sent again credits nobody twice", async () => {
  const before = balances();
  const shown = await post(CSV);
  expect(shown.text).toContain("Create 2 users and credit 2 users");
  expect(balances()).toEqual(before);
  const done = await confirmed(CSV);
  expect([done.status, done.headers.get("location")]).toEqual([303, "/users"]);
  const after = [
    { username: "alice", balance: 11_000_000 },
    { username: "bob", balance: 25_500_000 },
    { username: "kid", balance: 0 },
  ];
  expect(balances()).toEqual(after);
  expect((await post(CSV)).text).toContain("Create 0 users and credit 0 users");
  expect((await confirmed(CSV)).status).toBe(303);
  expect(balances()).toEqual(after);
});

test("every wrong row is shown with what was sent, and nothing is changed", async () => {
  const before = dumpOf(panel, users);
  const wrong = await post("username,credit,reference\nx y,1,a\nzoe,2,\nann,,\n");
  expect(wrong.status).toBe(422);
  expect(wrong.text).toContain("2 rows are wrong: nothing was imported");
  expect(wrong.text).toContain("credit needs a reference");
  expect(wrong.text).toContain("ann,,");
  const refused = await post("username,parent,credit,reference\nzoe,nobody,,\nalice,,2,old-2\n");
  expect(refused.status).toBe(422);
  expect(refused.text).toContain("2 rows are wrong: nothing was imported");
  expect((await post("")).text).toContain("Users as CSV is required");
  expect((await post("name\nx\n")).text).toContain("The list must begin with the line");
  expect(dumpOf(panel, users)).toBe(before);
});
