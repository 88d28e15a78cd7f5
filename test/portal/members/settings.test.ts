// Settings of members: which e-mails they receive, and the reseller's threshold for a low balance.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { findMember, findPortalSettings } from "../../../src/db/members/members.ts";
import { findUser } from "../../../src/db/users/users.ts";
import { MAIL_CHOICES, MEMBER_ROLES } from "../../../src/domain/members/members.ts";
import { openPortal, type TestPortal } from "../../support/worlds/portal.ts";

let portal: TestPortal;
let account = 0;
const ids: Record<string, string> = {};
const cookies: Record<string, string> = {};

beforeAll(async () => {
  portal = await openPortal();
  portal.user("alice", "100");
  ({ account } = portal.read((reader) => findUser(reader, "alice")!));
  for (const role of MEMBER_ROLES) {
    ids[role] = portal.member("alice", `${role}@alice.example`, role);
    cookies[role] = portal.session(ids[role]);
  }
});
afterAll(() => portal.stop());

const threshold = () =>
  portal.read((reader) => findPortalSettings(reader, account)).lowBalanceMicros;

test("every set of e-mails is stored with the member, and shown again", async () => {
  const profile = { name: "V", email: "viewer@alice.example", language: "en", timeZone: "UTC" };
  for (let set = 0; set < 2 ** MAIL_CHOICES.length; set++) {
    const chosen = MAIL_CHOICES.filter((_, bit) => (set >> bit) % 2 === 1);
    const fields = [...Object.entries(profile), ...chosen.map((each) => ["mails", each])];
    const form = new URLSearchParams(fields as [string, string][]);
    expect((await portal.post("/settings", cookies["viewer"]!, form)).status).toBe(303);
    expect(portal.read((reader) => findMember(reader, ids["viewer"]!))!.mails).toBe(chosen.join());
    const { text } = await portal.get("/settings", cookies["viewer"]!);
    const boxes = [...text.matchAll(/<input[^>]*name="mails"[^>]*>/g)].map(([box]) => box);
    const shown = boxes
      .filter((box) => box.includes("checked"))
      .map((box) => /value="(\w+)"/.exec(box)![1]!);
    expect(shown.toSorted()).toEqual(chosen.toSorted());
  }
});

test("the threshold is the owners' to set and to clear, exactly, and a wrong one changes nothing", async () => {
  const post = (role: string, value: string) =>
    portal.post("/settings/low-balance", cookies[role]!, { "low-balance": value });
  for (const role of MEMBER_ROLES.filter((each) => each !== "owner")) {
    expect([role, (await post(role, "5")).status, threshold()]).toEqual([role, 403, null]);
    expect((await portal.get("/settings", cookies[role]!)).text).not.toContain("low-balance");
  }
  for (const [value, micros] of [
    ["12.345678", 12_345_678],
    ["10000", 10_000_000_000],
    ["", null],
  ] as const) {
    expect([value, (await post("owner", value)).status, threshold()]).toEqual([value, 303, micros]);
    const { text } = await portal.get("/settings", cookies["owner"]!);
    const field = /<input[^>]*name="low-balance"[^>]*>/.exec(text)![0];
    expect(/ value="([^"]*)"/.exec(field)?.[1] ?? "").toBe(value);
  }
  await post("owner", "7");
  for (const value of ["0", "-1", "1.2345678", "ten", "1e3"]) {
    const { status, text } = await post("owner", value);
    expect([value, status, threshold()]).toEqual([value, 422, 7_000_000]);
    expect(text).toContain('id="settings-low-balance-low-balance-error"');
  }
});

test("in test mode the threshold is that of the live balance", async () => {
  await portal.post("/test-mode", cookies["owner"]!);
  await portal.post("/test/settings/low-balance", cookies["owner"]!, { "low-balance": "3" });
  expect(threshold()).toBe(3_000_000);
});

test("members are told while no server sends e-mails", async () => {
  const shown = async () =>
    (await portal.get("/settings", cookies["viewer"]!)).text.includes("sends no e-mails");
  expect(await shown()).toBe(true);
  portal.run("setMailSettings", { active: true, operator: null });
  expect(await shown()).toBe(false);
});

test("the newest sessions are shown, the others behind a click, and all but this one end together", async () => {
  const id = portal.member("alice", "many@alice.example", "viewer");
  const [own, ...others] = Array.from({ length: 9 }, () => portal.session(id));
  // The one that looks was used longest ago, and comes first anyway.
  const { text } = await portal.get("/settings", own!);
  const shown = text.slice(text.indexOf("<h2>Sessions</h2>"));
  const [before, behind] = shown.split("<details>") as [string, string];
  const rows = (html: string) => html.match(/<tr><td/g)?.length;
  expect([rows(before), rows(behind)]).toEqual([5, 4]);
  expect(before.indexOf("This one")).toBeGreaterThan(-1);
  expect(before.indexOf("This one")).toBeLessThan(before.indexOf(">End</button>"));
  expect(behind).toContain("<summary>4 more sessions</summary>");
  const ended = await portal.post("/settings/sessions/others", own!);
  expect(ended.headers.get("location")).toBe("/settings");
  for (const other of others) expect((await portal.get("/settings", other)).status).toBe(303);
  const left = await portal.get("/settings", own!);
  expect([left.status, left.text.includes("/settings/sessions/others")]).toEqual([200, false]);
});
