// Saved views: filters of the list of orders by a name, for one administrator.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { SAVED_VIEWS_LIMIT } from "../../../src/domain/administrators/administrators.ts";
import { openPanel, type TestPanel } from "../../support/worlds/panel.ts";

let panel: TestPanel;
beforeAll(async () => {
  panel = await openPanel({ role: "support" });
  panel.user("alice");
});
afterAll(() => panel.stop());

const rows = () =>
  panel.query("SELECT administrator, name, query FROM saved_views ORDER BY administrator, name");
const save = (name: string, query: string) => panel.post("/save-view", { name, query });
const view = (name: string, query: string) => ({ administrator: "tester", name, query });

test("a view is saved by a name without the place in the list, replaced, opened and removed", async () => {
  const saved = await save("Alice's", "user=alice&status=PENDING&below=7&earlier=9+8&link=");
  expect([saved.status, saved.headers.get("location")]).toEqual([
    303,
    "/orders?user=alice&status=PENDING",
  ]);
  expect(rows()).toEqual([view("Alice's", "user=alice&status=PENDING")]);
  expect((await panel.get("/orders")).text).toContain(
    'href="/orders?user=alice&amp;status=PENDING"',
  );
  await save("Alice's", "user=alice");
  expect(rows()).toEqual([view("Alice's", "user=alice")]);
  const removed = await panel.post("/remove-view", { name: "Alice's", query: "user=alice" });
  expect(removed.headers.get("location")).toBe("/orders?user=alice");
  expect(rows()).toEqual([]);
  expect((await panel.post("/remove-view", { name: "Alice's", query: "" })).status).toBe(303);
});

test("another administrator neither sees nor changes it", async () => {
  panel.administrator("olga", "owner");
  const headers = { cookie: panel.session("olga"), origin: panel.url };
  await save("Mine", "status=FAILED");
  const shown = await panel.ask("/orders", { headers });
  expect(shown.text).not.toContain("Mine");
  const body = new URLSearchParams({ name: "Mine", query: "status=PENDING" });
  for (const path of ["/save-view", "/remove-view"]) {
    await panel.ask(path, { method: "POST", headers, body });
    expect(rows()).toContainEqual(view("Mine", "status=FAILED"));
  }
});

test.each([
  ["", "status=FAILED", "Name of this view is required"],
  ["x".repeat(61), "status=FAILED", "Name of this view must be"],
  ["Long", `link=${"x".repeat(2001)}`, "These filters are too long to be saved"],
  ["Nothing", "", "Set a filter first"],
])("a view %p of %p is refused beside its field", async (name, query, message) => {
  const before = rows();
  const refused = await save(name, query);
  expect([refused.status, refused.text]).toEqual([422, expect.stringContaining(message)]);
  expect(rows()).toEqual(before);
});

test("there is a limit for an administrator's views", async () => {
  for (let each = 0; rows().length < SAVED_VIEWS_LIMIT; each++)
    await save(`v${each}`, "user=alice");
  const refused = await save("one more", "user=alice");
  expect([refused.status, refused.text]).toEqual([
    422,
    expect.stringContaining(`You have ${SAVED_VIEWS_LIMIT} saved views already`),
  ]);
  // An existing one can still be changed.
  expect((await save("v0", "user=bob")).status).toBe(303);
});

test("a chip removes its filter alone", async () => {
  const { text } = await panel.get(
    "/orders?user=alice&link=p&from=2026-01-01&to=2026-02-01&below=9",
  );
  const [, chips] = /<ul class="chips">(.*?)<\/ul>/s.exec(text)!;
  const links = [...chips!.matchAll(/href="([^"]*)"/g)].map(([, href]) =>
    href!.replaceAll("&amp;", "&"),
  );
  expect(links).toEqual([
    "/orders?link=p&from=2026-01-01&to=2026-02-01",
    "/orders?user=alice&from=2026-01-01&to=2026-02-01",
    "/orders?user=alice&link=p",
  ]);
});
