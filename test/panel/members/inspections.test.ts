// "View as" from the panel to the portal, both on one database: the link, what it opens, and what ends it.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { listAuditEntries } from "../../../src/db/administrators/audit.ts";
import { listInspections } from "../../../src/db/members/inspections.ts";
import { hashSecret } from "../../../src/web/sessions/session-cookie.ts";
import { openPanel, type TestPanel } from "../../support/worlds/panel.ts";
import { openPortal, type TestPortal } from "../../support/worlds/portal.ts";

let portal: TestPortal;
let panel: TestPanel;
beforeAll(async () => {
  portal = await openPortal();
  panel = await openPanel({
    beside: portal,
    portal: { url: () => portal.url, registration: "off" },
  });
  panel.user("alice", "10");
  panel.user("bob", "20");
});
afterAll(async () => {
  await panel.stop();
  await portal.stop();
});

const FORM = "/users/alice/members/view";
const tokenIn = (html: string) => /href="[^"]*\/inspection#([\w-]{43})"/.exec(html)![1]!;

async function view(cookie: string, role = "owner") {
  const headers = { cookie, origin: panel.url };
  const body = new URLSearchParams({ role });
  const { status, text } = await panel.ask(FORM, { method: "POST", headers, body });
  expect(status).toBe(200);
  const token = tokenIn(text);
  const opened = await portal.post("/inspection", "", { token });
  const [inspection] = opened.headers.getSetCookie();
  return { token, inspection: inspection!.split(";")[0]! };
}

test("the panel's link shows the reseller's pages, until the administrator signs out of the panel", async () => {
  // The role of those who answer customers.
  panel.administrator("olga", "support");
  const cookie = panel.session("olga");
  const { text: page } = await panel.ask("/users/alice/members", { headers: { cookie } });
  expect([page.includes(FORM), page.includes('action="/users/alice/members"')]).toEqual([
    true,
    false,
  ]);
  const { inspection } = await view(cookie);
  const { status, text } = await portal.get("/", inspection);
  expect([status, text.includes("You see the pages of alice (Owner: everything)")]).toEqual([
    200,
    true,
  ]);
  expect(text).toContain("$10.00");
  await panel.ask("/sign-out", { method: "POST", headers: { cookie, origin: panel.url } });
  expect((await portal.get("/", inspection)).headers.get("location")).toBe("/inspection/ended");
});

test("only a hash of the token is stored, and the link has the address of the portal", async () => {
  const { text } = await panel.post(FORM, { role: "buyer" });
  expect(text).toContain(`href="${portal.url}/inspection#`);
  const row = panel.read(listInspections).find(({ openedAt }) => openedAt === null)!;
  expect(row).toMatchObject({ tokenHash: hashSecret(tokenIn(text)), panelUrl: panel.url });
});

test("the way back leads to the page of the panel that it came from", async () => {
  const { inspection } = await view(panel.session("tester"));
  const { text } = await portal.post("/inspection/end", inspection);
  const [, back] = /href="([^"]*\/members)"/.exec(text)!;
  expect(back!.startsWith(panel.url)).toBe(true);
  expect((await panel.get(back!.slice(panel.url.length))).status).toBe(200);
});

test("the audit log says who saw whose pages, from when to when", async () => {
  const { inspection } = await view(panel.session("tester"), "viewer");
  await portal.post("/inspection/end", inspection);
  const entries = panel.read((reader) => listAuditEntries(reader, { limit: 2 }));
  expect(entries).toMatchObject([
    {
      action: "inspection.end",
      operator: "panel:tester",
      username: "alice",
      after: { role: "viewer", why: "closed" },
    },
    {
      action: "inspection.begin",
      operator: "panel:tester",
      username: "alice",
      after: { role: "viewer" },
    },
  ]);
  const { text } = await panel.get("/audit?user=alice");
  expect(text).toContain("Portal viewed as a reseller");
  expect(text).toContain('<a href="/users/alice/members">');
});

test("where no member could see the portal, nobody views it as one", async () => {
  panel.run("setPortal", { username: "bob", changes: { active: false } });
  expect((await panel.get("/users/bob/members")).text).not.toContain("View the portal");
  const before = panel.fingerprint();
  const { status, text } = await panel.post("/users/bob/members/view", { role: "owner" });
  expect([status, text.includes("The portal of this reseller is off")]).toEqual([422, true]);
  expect(panel.fingerprint()).toBe(before);
});
