// The second factor of the sign-in: codes, recovery codes and their removal.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { PANEL_SIGN_INS } from "../../../src/db/administrators/administrators.ts";
import { openPanel, PASSWORD, type TestPanel } from "../../support/worlds/panel.ts";
import { cookieOf, OTHER_PASSWORD, signingIn } from "./sign-in.ts";

let panel: TestPanel;
beforeEach(async () => {
  panel = await openPanel();
});
afterEach(() => panel.stop());

const { send, signIn, isIn, enrol, codeNow } = signingIn(() => panel);

describe("a second factor", () => {
  test("is asked for after the password, each code once, and the session is a new one then", async () => {
    const before = panel.session("tester");
    const { secret, cookie } = await enrol(before);
    expect([await isIn(before), await isIn(cookie)]).toEqual([false, true]);
    const half = await signIn("tester");
    expect(half.headers.get("location")).toBe("/sign-in/code?next=%2F");
    const awaiting = cookieOf(half);
    expect(await isIn(awaiting)).toBe(false);
    expect(
      (await panel.ask("/account", { headers: { cookie: awaiting } })).headers.get("location"),
    ).toBe("/sign-in/code");
    // The code that turned it on was taken.
    expect((await send("/sign-in/code", { code: codeNow(secret) }, awaiting)).status).toBe(422);
    const passed = await send("/sign-in/code", { code: codeNow(secret, 1) }, awaiting);
    expect(passed.status).toBe(303);
    expect(cookieOf(passed)).not.toBe(awaiting);
    expect([await isIn(awaiting), await isIn(cookieOf(passed))]).toEqual([false, true]);
  });

  test("has ten recovery codes, each usable once", async () => {
    const { codes } = await enrol(panel.session("tester"));
    expect(new Set(codes).size).toBe(10);
    expect(JSON.stringify(panel.query("SELECT * FROM recovery_codes"))).not.toContain(codes[0]!);
    const pass = async (code: string): Promise<number> =>
      (await send("/sign-in/code", { code }, cookieOf(await signIn("tester")))).status;
    expect(await pass(codes[0]!.toUpperCase())).toBe(303);
    expect(await pass(codes[0]!)).toBe(422);
    expect(await pass(codes[1]!)).toBe(303);
  });

  test("ends a session after ten wrong codes or passwords in a row, without a delay before", async () => {
    const cookie = panel.session("tester");
    const wrong = () =>
      send("/account/password", { current: "wrong", password: OTHER_PASSWORD }, cookie);
    for (const failures of [9, 10]) {
      for (let each = 0; each < failures; each++) expect((await wrong()).status).toBe(422);
      if (failures === 10) break;
      // A right one begins anew.
      panel.query("UPDATE panel_sessions SET proved_at = 0");
      panel.user("alice", "1");
      const fields = { direction: "credit", amount: "500", note: "n" };
      panel.clock.now = Date.now();
      const asked = await send("/users/alice/balance", fields, cookie);
      const hidden = [...asked.text.matchAll(/type="hidden" name="([^"]*)" value="([^"]*)"/g)];
      const confirmed = Object.fromEntries(hidden.map(([, name, value]) => [name!, value!]));
      const proved = { ...confirmed, proof: PASSWORD };
      expect((await send("/users/alice/balance", proved, cookie)).status).toBe(303);
    }
    expect(await isIn(cookie)).toBe(true);
    const eleventh = { current: PASSWORD, password: OTHER_PASSWORD };
    expect((await send("/account/password", eleventh, cookie)).status).toBe(422);
    expect(await isIn(cookie)).toBe(false);
    expect((await signIn("tester")).status).toBe(303);
  });

  test("that is wrong ten times is refused for a while, from a known address too", async () => {
    await enrol(panel.session("tester"));
    const awaiting = cookieOf(await signIn("tester"));
    const replies: number[] = [];
    for (let each = 0; each < 11; each++) {
      replies.push((await send("/sign-in/code", { code: "000000" }, awaiting)).status);
    }
    expect(replies).toEqual([...Array.from({ length: 10 }, () => 422), 429]);
    expect(panel.logged.map(({ fields }) => (fields as { why: string }).why)).toContain(
      "code_wrong",
    );
  });

  test("is removed only with a proof, or at the terminal if it is lost; sessions end with it", async () => {
    const { cookie } = await enrol(panel.session("tester"));
    const other = panel.session("tester");
    const refused = await send("/account/second-factor/remove", { proof: "wrong" }, cookie);
    expect(refused.status).toBe(422);
    const removed = await send("/account/second-factor/remove", { proof: PASSWORD }, cookie);
    expect(removed.status).toBe(303);
    expect([await isIn(other), await isIn(cookieOf(removed))]).toEqual([false, true]);
    await enrol(cookieOf(removed));
    panel.run("removeSecondFactor", { site: "panel", person: "tester" });
    expect(panel.read((reader) => PANEL_SIGN_INS.listSessionsOf(reader, "tester"))).toEqual([]);
    expect((await signIn("tester")).headers.get("location")).toBe("/");
  });

  test("is required of owners when the panel is open beyond this machine, and of nobody else", async () => {
    const open = await openPanel({ settings: { needsSecondFactor: true } });
    open.administrator("olga", "operator");
    const get = async (path: string, name: string): Promise<string | number> => {
      const { status, headers } = await open.ask(path, { headers: { cookie: open.session(name) } });
      return headers.get("location") ?? status;
    };
    expect(await get("/audit", "tester")).toBe("/account/second-factor");
    expect(await get("/administrators", "tester")).toBe("/account/second-factor");
    expect(await get("/account/second-factor", "tester")).toBe(200);
    expect(await get("/audit", "olga")).toBe(200);
    await open.stop();
  });
});
