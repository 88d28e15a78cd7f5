// Pages speak of people, states and failures as operators do: no name that the program stores is shown.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { factWords } from "../../../src/panel/administrators/audit-entries.tsx";
import { failureText } from "../../../src/panel/providers/call-failures.ts";
import { type PanelMarket, seedPanelMarket } from "../../support/seeds/panel-market.ts";
import { openPanel } from "../../support/worlds/panel.ts";
import { VISITOR } from "../../support/seeds/visitors.ts";

let market: PanelMarket;
let settled: number;
let failed: number;
let memberId: string;
const member = {
  email: "ann@example.com",
  name: "Ann Lee",
  role: "owner",
  language: "en",
} as const;

beforeAll(async () => {
  market = seedPanelMarket(await openPanel());
  memberId = market.run("inviteMember", {
    ...member,
    username: "alice",
    invitationHash: "3".repeat(64),
  });
  settled = market.delivered({ placed: "123" });
  for (const operator of ["panel:tester", "reseller (bo) as nightly"]) {
    const actor = { keyId: null, operator };
    market.run("noteOrder", { id: String(settled), note: "looked at it", actor });
  }
  // Members and keys write no notes, but they are authors of other changes.
  for (const [keyId, operator, above] of [
    ["NULL", `'member:${memberId}'`, 1000],
    ["(SELECT id FROM keys ORDER BY id LIMIT 1)", "NULL", 2000],
  ]) {
    market.query(
      `INSERT INTO audit (seq, created_at, key_id, operator, action, subject, account, before, after)
      SELECT seq + ${above}, created_at, ${keyId}, ${operator}, action, subject, account, before, after
      FROM audit WHERE operator = 'panel:tester' AND action = 'order.note'`,
    );
  }
  market.run("updateProvider", { name: "acme", changes: { lowBalanceMicros: 5_000_000 } });
  market.run("setServiceActive", {
    id: "followers",
    active: false,
    actor: { keyId: null, operator: "scheduled sync" },
  });
  await market.confirm("/users/bob/balance", { direction: "credit", amount: "5" });
  failed = market.delivered("queued");
  market.attempt(failed, { outcome: "not_sent", cause: "ECONNREFUSED" });
  await market.post("/account/time-zone", { zone: "Asia/Kathmandu" });
});
afterAll(() => market.stop());

const NAMES =
  /panel:[a-z]|member:[a-z0-9]|\b[a-z]+[A-Z][a-z]+(?:Micros|At)?\b(?=\s*<(?:del|ins|\/li))/;

describe("authors", () => {
  test("are named as people in the timeline of an order", async () => {
    const { text } = await market.get(`/orders/${settled}`);
    for (const name of ["Ann Lee of alice", "tester", "reseller (bo) as nightly, command line"])
      expect(text).toContain(`>${name}</bdi>`);
    expect(text).toMatch(/by <bdi[^>]*>key rk_\w+ of \w+</);
    expect(text).not.toMatch(NAMES);
  });

  test.each(["/", "/audit", "/transactions", "/users/bob", "/users/bob/transactions"])(
    "are named as people on %s",
    async (path) => {
      const { status, text } = await market.get(path);
      expect([status, NAMES.exec(text)?.[0]]).toEqual([200, undefined]);
      expect(text).toContain(">tester</bdi>");
    },
  );

  test("an administrator and a user of the server are found by their names", async () => {
    const rows = async (by: string) =>
      (await market.get(`/audit?by=${by}`)).text.match(/data-label="Action"/g)?.length ?? 0;
    expect(await rows("bo")).toBe(1);
    expect(await rows("tester")).toBeGreaterThan(1);
    expect(await rows("nobody")).toBe(0);
  });
});

test("what was changed is named, and leads to its page", async () => {
  market.run("register", {
    email: "new@x.example",
    name: "New",
    language: "en",
    limit: 1000,
    from: VISITOR,
  });
  const [{ id }] = market.query<{ id: string }>("SELECT id FROM registrations") as [{ id: string }];
  market.run("declineRegistration", { id });
  market.run("addNotice", { texts: { en: "Slow today" }, untilAt: null });
  const { text } = await market.get("/audit");
  const subjects = [...text.matchAll(/data-label="Subject">(.*?)<\/td>/g)].map(([, cell]) => cell!);
  const words = subjects.map((cell) => cell.replace(/<[^>]*>/g, ""));
  // The address of a visitor who was declined is not kept.
  expect(words).toContain("a visitor of the portal");
  expect(words).toContain("Ann Lee of alice");
  expect(subjects).toContainEqual(expect.stringContaining('href="/members/notices"'));
  expect(words.filter((each) => /^[a-z0-9]{24}$/.test(each))).toEqual([]);
});

test("the fields of a change are words, with values as people write them", async () => {
  const { text } = await market.get("/audit");
  expect(text).toMatch(/<li>low balance[^<]*<ins><bdi[^>]*>5</);
  expect(text).toMatch(/<li>active <del><bdi[^>]*>yes<.*?<ins><bdi[^>]*>no</s);
  expect(text).toContain("scheduled sync");
});

test.each([
  ["priceMicros", "price"],
  ["pausedUntilAt", "paused until"],
  ["rechargeDailyMicros", "recharge daily"],
  ["providerOrder", "number at the provider"],
  ["acme service 7", "acme service 7"],
  ["min", "min"],
])("the fact %p is shown as %p", (name, words) => {
  expect(factWords(name)).toBe(words);
});

test.each([
  ["ECONNREFUSED", "it could not be reached (ECONNREFUSED)"],
  ["EAI_AGAIN", "its name could not be looked up (EAI_AGAIN)"],
  ["CERT_HAS_EXPIRED", "its certificate was not accepted (CERT_HAS_EXPIRED)"],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "its certificate was not accepted (DEPTH_ZERO_SELF_SIGNED_CERT)"],
  ["EMFILE", "this server had no connection left (EMFILE)"],
  ["HTTP 502", "HTTP 502"],
  ["no answer within 30 s", "no answer within 30 s"],
  ["Link is private", "Link is private"],
  ["NO", "NO"],
])("the cause %p is shown as %p", (cause, words) => {
  expect(failureText(cause)).toBe(words);
});

test("a provider that was not reached has not replied", async () => {
  const { text } = await market.get(`/orders/${failed}`);
  expect(text).toContain("the last try failed: <bdi");
  expect(text).toContain("it could not be reached (ECONNREFUSED)");
  expect(text).toMatch(/<dt>Last reply<\/dt><dd><span class="none">/);
});

test("times in sentences are in the administrator's zone, which they name", async () => {
  await market.post("/providers/acme/pause", { for: "2h" });
  for (const path of ["/", "/providers/acme"]) {
    const { text } = await market.get(path);
    const [, at, shown] = /[Ss]ince <time datetime="([^"]+)">([^<]+) Asia\/Kathmandu</.exec(text)!;
    const there = new Date(Date.parse(at!) + 345 * 60_000).toISOString().slice(0, 19);
    expect(shown).toBe(there.replace("T", " "));
    expect(text).not.toMatch(/\d UTC/);
  }
});
