// What gives or takes an owner's power, and what of it is in the audit log.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { findAdministrator } from "../../../src/db/administrators/administrators.ts";
import { codeOf, stepAt } from "../../../src/domain/sign-ins/second-factor.ts";
import { PROOF_MS } from "../../../src/domain/sign-ins/sign-ins.ts";
import { newToken } from "../../../src/web/sessions/tokens.ts";
import { openPanel, PASSWORD, type TestPanel } from "../../support/worlds/panel.ts";
import { signingIn } from "./sign-in.ts";

let panel: TestPanel;
beforeEach(async () => {
  panel = await openPanel();
});
afterEach(() => panel.stop());

const { send } = signingIn(() => panel);

test("the last owner who can sign in remains an owner", () => {
  panel.run("inviteAdministrator", {
    name: "invited",
    role: "owner",
    invitationHash: "a".repeat(64),
  });
  expect(() => panel.run("setAdministratorRole", { name: "tester", role: "support" })).toThrow(
    "administrator_last_owner",
  );
  expect(() => panel.run("setAdministratorActive", { name: "tester", active: false })).toThrow(
    "administrator_last_owner",
  );
  panel.administrator("second", "owner");
  panel.run("setAdministratorActive", { name: "tester", active: false });
});

/** Sends a form and confirms what is asked, with a proof where one is asked for. */
async function confirmed(path: string, fields: Record<string, string> = {}, proof = PASSWORD) {
  const asked = await panel.post(path, fields);
  const hidden = [...asked.text.matchAll(/type="hidden" name="([^"]*)" value="([^"]*)"/g)];
  expect(asked.text).toContain('name="confirmed"');
  const values = Object.fromEntries(hidden.map(([, name, value]) => [name!, value!]));
  const needsProof = asked.text.includes('name="proof"');
  const sent = { ...fields, ...values, ...(needsProof && { proof }) };
  return { needsProof, done: await panel.post(path, sent) };
}

describe("what gives or takes an owner's power", () => {
  /** By this machine's clock, by which sessions begin. */
  const later = () => (panel.clock.now = Date.now() + PROOF_MS + 1000);
  const rows = () => JSON.stringify(panel.query("SELECT * FROM administrators ORDER BY name"));

  beforeEach(() => {
    panel.administrator("olga", "operator");
    panel.administrator("boss", "owner");
    panel.run("setAdministratorActive", { name: "boss", active: false });
    panel.administrator("second", "owner");
    panel.query("UPDATE administrators SET totp_secret = 'JBSWY3DPEHPK3PXP' WHERE name = 'second'");
  });

  test.each([
    ["to invite an owner", "/administrators", { name: "zoe", role: "owner" }],
    ["to make someone an owner", "/administrators/olga/role", { role: "owner" }],
    ["to give up one's own role", "/administrators/tester/role", { role: "support" }],
    ["to disable oneself", "/administrators/tester/disable", {}],
    ["to disable another", "/administrators/olga/disable", {}],
    ["to enable an owner", "/administrators/boss/enable", {}],
    ["to remove a second factor", "/administrators/second/second-factor", {}],
  ])("%s needs a confirmation and a recent password", async (_, path, fields) => {
    const before = rows();
    later();
    const wrong = await confirmed(path, fields, "a wrong password");
    expect([wrong.needsProof, wrong.done.status, rows()]).toEqual([true, 422, before]);
    const { needsProof, done } = await confirmed(path, fields);
    expect(needsProof).toBe(true);
    expect(done.status).toBeLessThan(400);
    expect(rows()).not.toBe(before);
  });

  test("to invite anyone but an owner needs neither a confirmation nor a recent password", async () => {
    later();
    expect((await panel.post("/administrators", { name: "zoe", role: "operator" })).text).toMatch(
      /\/setup#[\w-]{43}/,
    );
  });

  test("to set up a second factor needs a recent password", async () => {
    const cookie = panel.session("tester");
    await send("/account/second-factor/offer", {}, cookie);
    later();
    const shown = await panel.ask("/account/second-factor", { headers: { cookie } });
    const [, text] = /<code id="secret">([A-Z2-7 ]+)</.exec(shown.text)!;
    expect(shown.text).toContain('name="proof"');
    const code = codeOf(text!.replaceAll(" ", ""), stepAt(Date.now()));
    const enable = (proof: string) =>
      send("/account/second-factor/enable", { code, proof }, cookie);
    for (const [proof, message] of [
      ["", "Enter your password or a code again"],
      ["wrong password", "Wrong password or code"],
    ] as const) {
      const refused = await enable(proof);
      expect([refused.status, refused.text]).toEqual([422, expect.stringContaining(message)]);
    }
    expect(panel.read((reader) => findAdministrator(reader, "tester"))!.totpSecret).toBe(null);
    expect((await enable(PASSWORD)).text).toContain("Recovery codes");
  });
});

test("what administrators do to each other is in the audit log, without a secret", async () => {
  const { token, invitationHash } = newToken();
  panel.administrator("olga", "operator");
  const invited = await panel.post("/administrators", { name: "zoe", role: "support" });
  expect(invited.text).toMatch(/\/setup#[\w-]{43}/);
  await confirmed("/administrators/olga/role", { role: "support" });
  await confirmed("/administrators/olga/disable");
  const entries = panel.query<{ operator: string; action: string; subject: string; after: string }>(
    "SELECT operator, action, subject, after FROM audit ORDER BY seq DESC LIMIT 3",
  );
  expect(entries.map(({ operator, action, subject }) => [operator, action, subject])).toEqual([
    ["panel:tester", "administrator.disable", "olga"],
    ["panel:tester", "administrator.role", "olga"],
    ["panel:tester", "administrator.invite", "zoe"],
  ]);
  expect(JSON.stringify(panel.query("SELECT * FROM audit"))).not.toMatch(/argon2|[0-9a-f]{64}/);
  expect(token).not.toBe(invitationHash);
});
