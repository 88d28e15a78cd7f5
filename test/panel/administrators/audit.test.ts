// The page Audit.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { openPanel, type TestPanel } from "../../support/worlds/panel.ts";

let panel: TestPanel;

beforeAll(async () => {
  panel = await openPanel();
  for (let each = 0; each < 60; each++) panel.user(`user-${each}`);
  panel.run("creditUser", { username: "user-7", amountMicros: 2_500_000, note: "<b>first</b>" });
});
afterAll(() => panel.stop());

const subjects = (html: string) =>
  [...html.matchAll(/data-label="Subject">(?:<a [^>]*>)?<bdi class="typed[ a-z]*">([^<]*)/g)].map(
    ([, name]) => name,
  );

test("entries are listed newest first, fifty to a page, and the pages together are all of them", async () => {
  const first = await panel.get("/audit");
  expect(first.status).toBe(200);
  const next = /href="(\/audit\?below=\d+)" rel="next"/.exec(first.text)![1]!;
  const second = await panel.get(next);
  expect(second.text).not.toContain('rel="next"');
  const all = [...subjects(first.text), ...subjects(second.text)];
  const users = Array.from({ length: 60 }, (_, at) => `user-${59 - at}`);
  expect(all).toEqual(["user-7", ...users, "tester", "tester"]);
});

test("filters are taken from the address, and a wrong one is named beside its field", async () => {
  expect(subjects((await panel.get("/audit?user=user-7&action=user.credit")).text)).toEqual([
    "user-7",
  ]);
  const { text } = await panel.get("/audit?action=user.credit");
  expect(text).toContain('<option value="user.credit" selected>Reseller credited</option>');
  expect(text).toContain('data-label="Action">Reseller credited<');
  expect(subjects((await panel.get("/audit?subject=user-3")).text)).toEqual(["user-3"]);
  expect(subjects((await panel.get("/audit?by=nobody")).text)).toEqual([]);
  expect(subjects((await panel.get("/audit?to=2020-01-01")).text)).toEqual([]);
  const wrong = await panel.get("/audit?from=yesterday");
  expect(wrong.text).toContain("From must be an ISO 8601 time");
  expect(wrong.text).toContain('value="yesterday"');
});

test("typed text is shown as text", async () => {
  const { text } = await panel.get("/audit?action=user.credit");
  expect(text).toContain("&lt;b>first&lt;/b>");
  expect(text).not.toContain("<b>first");
});
