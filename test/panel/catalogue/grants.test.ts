// The page on which grants, resellers' own prices, are imported.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { grants } from "../../../src/db/tables/catalogue.ts";
import { openPanel, type TestPanel } from "../../support/worlds/panel.ts";
import { dumpOf } from "../../support/databases/test-database.ts";

let panel: TestPanel;

beforeAll(async () => {
  panel = await openPanel({ role: "operator" });
  panel.user("alice", "10");
  panel.user("kid", undefined, "alice");
  panel.service({ id: "likes", name: "Likes" });
  panel.service({ id: "views", name: "Views" });
});
afterAll(() => panel.stop());

const PATH = "/import-grants";
const post = (csv: string) => panel.post(PATH, { csv });
const stored = () =>
  panel.query("SELECT service_id AS service, price_micros AS price FROM grants ORDER BY service");

const confirmed = (csv: string) => panel.confirm(PATH, { csv });

test("a list is shown first, and nothing is set until it is confirmed", async () => {
  const csv = "service,username,price\nlikes,alice,0.5\nviews,alice,\n";
  const shown = await post(csv);
  expect(shown.text).toContain("Set 2 grants");
  expect(shown.text).toContain("the service's");
  expect(stored()).toEqual([]);
  const done = await confirmed(csv);
  expect([done.status, done.headers.get("location")]).toEqual([303, "/services"]);
  expect(stored()).toEqual([
    { service: "likes", price: 500_000 },
    { service: "views", price: null },
  ]);
});

test("every row that is wrong is shown with what was sent, and nothing is set", async () => {
  const before = dumpOf(panel, grants);
  const wrong = await post("service,username,price\nlikes,alice,x\nlikes,a b,1\nviews,alice,2\n");
  expect(wrong.status).toBe(422);
  expect(wrong.text).toContain("2 rows are wrong: nothing was imported");
  expect(wrong.text).toContain("line 2");
  expect(wrong.text).toContain("line 3");
  expect(wrong.text).toContain("views,alice,2");
  const refused = await confirmed("service,username\nlikes,alice\nnothing,alice\nviews,kid\n");
  expect(refused.status).toBe(422);
  expect(refused.text).toContain("2 rows are wrong: nothing was imported");
  expect(refused.text).toContain("Service not found");
  expect(refused.text).toContain("A child user cannot hold a grant");
  expect((await post("")).text).toContain("Grants as CSV is required");
  expect((await post("name\nx\n")).text).toContain("The list must begin with the line");
  expect(dumpOf(panel, grants)).toBe(before);
});
