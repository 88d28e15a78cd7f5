// Notices for all members in the panel.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { listAuditEntries } from "../../../src/db/administrators/audit.ts";
import { listNotices } from "../../../src/db/members/notices.ts";
import { DAY_MS } from "../../../src/domain/values/spans.ts";
import { openPanel, type TestPanel } from "../../support/worlds/panel.ts";

let panel: TestPanel;
beforeAll(async () => (panel = await openPanel()));
afterAll(() => panel.stop());

const PATH = "/members/notices";
const notices = () => panel.read(listNotices);

test("a notice has a text in English and in the languages that are filled in, and its last day belongs to it", async () => {
  const day = new Date(Date.now() + DAY_MS).toISOString().slice(0, 10);
  const fields = { en: "Slow <today>", es: "Hoy lento", ru: "", until: day };
  expect((await panel.post(PATH, fields)).status).toBe(303);
  const [notice] = notices();
  const untilAt = Date.parse(day) + DAY_MS - 1;
  expect(notice).toMatchObject({ texts: { en: "Slow <today>", es: "Hoy lento" }, untilAt });
  expect(panel.read((reader) => listAuditEntries(reader, { limit: 1 }))[0]).toMatchObject({
    action: "notice.add",
    operator: "panel:tester",
  });
  const { text } = await panel.get(PATH);
  expect([text.includes("Slow &lt;today>"), text.includes("Hoy lento")]).toEqual([true, true]);
  expect((await panel.post(`${PATH}/${notice!.id}/remove`)).status).toBe(303);
  expect(notices()).toEqual([]);
});

test.each([
  [{ es: "Hola" }, "en"],
  [{ en: "x".repeat(501) }, "en"],
  [{ en: "Hello", ru: "x".repeat(501) }, "ru"],
  [{ en: "Hello", until: "2020-01-01" }, "until"],
  [{ en: "Hello", until: "soon" }, "until"],
])("%j is refused beside the field %s, and what was typed stays", async (fields, field) => {
  const { status, text } = await panel.post(PATH, fields);
  expect([status, notices()]).toEqual([422, []]);
  expect(text).toContain(`id="members-notices-${field}-error"`);
  for (const typed of Object.values(fields)) expect(text).toContain(typed);
});
