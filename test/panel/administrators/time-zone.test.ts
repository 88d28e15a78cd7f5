// The time zone that an administrator chooses for the times that it sees.

import { expect, test } from "bun:test";
import { openPanel } from "../../support/worlds/panel.ts";

const time = (html: string) => /<time datetime="([^"]*)">([^<]*)</.exec(html)!.slice(1);

test("times are in the chosen zone, and headings name it, for this administrator only", async () => {
  const panel = await openPanel({ role: "support" });
  panel.administrator("olga", "operator");
  const [at, text] = time((await panel.get("/account")).text);
  expect(text).toBe(at!.slice(0, 19).replace("T", " "));
  const saved = await panel.post("/account/time-zone", { zone: "Asia/Kathmandu" });
  expect([saved.status, saved.headers.get("location")]).toEqual([303, "/account"]);
  const own = (await panel.get("/account")).text;
  const [start, shown] = time(own);
  // The zone is 5:45 ahead of UTC, without summer time.
  const there = new Date(Date.parse(start!) + 345 * 60_000).toISOString();
  expect(shown).toBe(there.slice(0, 19).replace("T", " "));
  expect(own).toContain('data-zone="Asia/Kathmandu"');
  panel.user("alice");
  panel.run("setUserActive", { username: "alice", active: false });
  expect((await panel.get("/")).text).toContain("When (Asia/Kathmandu)");
  const olga = { headers: { cookie: panel.session("olga") } };
  expect((await panel.ask("/", olga)).text).toContain("When (UTC)");
  const wrong = await panel.post("/account/time-zone", { zone: "Mars/Olympus" });
  expect([wrong.status, wrong.text]).toEqual([422, expect.stringContaining("Time zone must be")]);
  await panel.post("/account/time-zone", { zone: "UTC" });
  expect(panel.query("SELECT time_zone FROM administrators WHERE name = 'tester'")).toEqual([
    { time_zone: null },
  ]);
  await panel.stop();
});
