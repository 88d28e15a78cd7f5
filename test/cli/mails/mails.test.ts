// `admin mail`: what was queued and failed, sending it again, and trying the mail server.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { type MailServerPeer, startMailServer } from "../../support/peers/mail-server.ts";
import { openShop } from "../../support/worlds/shop.ts";

const shop = openShop();
const login = { user: "u", password: "hunter2" };
let server: MailServerPeer;
let refusing: MailServerPeer;
beforeAll(async () => {
  server = await startMailServer({ login });
  refusing = await startMailServer({ judge: () => ({ at: "RCPT", code: 550 }) });
  shop.run("setMailSettings", { active: true, operator: null });
  for (const name of ["ann", "bob", "carl"]) {
    const member = {
      email: `${name}@x.example`,
      name: null,
      role: "owner",
      language: "en",
    } as const;
    shop.run("inviteMember", { username: "alice", ...member, invitationHash: null });
  }
});
afterAll(async () => {
  await server.close();
  await refusing.close();
  shop.close();
});

const mail = (...argv: string[]) => shop.cli("admin", "mail", ...argv);

let hashed = 0;
const hash = () => String((hashed += 1)).padStart(64, "a");

/** Fails the oldest mail for good, as a server would record it. */
function failOne(): void {
  const due = { server: "s", limit: 1, perHour: 9, hashes: [hash()], known: [] };
  const [taken] = shop.execute("takeDueMails", due, Date.now());
  const { mailId, attempt } = taken!;
  const attempts = [{ mailId, attempt, error: "refused", reply: "550 no such user" }] as const;
  shop.execute("recordMailAttempts", { attempts, jitter: 0 }, Date.now());
}

test("list shows those that failed first, and no link or hash of one", async () => {
  failOne();
  const { stdout } = await mail("list");
  expect(stdout).not.toContain("aaaa");
  const { json } = await mail("list", "--json");
  expect(json.map(({ to, state, error, user }: never) => [to, state, error, user])).toEqual([
    ["ann@x.example", "failed", "refused", "alice"],
    ["carl@x.example", "waiting", null, "alice"],
    ["bob@x.example", "waiting", null, "alice"],
  ]);
  expect((await mail("list", "--failed", "--json")).json).toHaveLength(1);
  expect((await mail("list", "--limit", "2", "--json")).json).toHaveLength(2);
});

test("show says why it failed, and retry sends it again", async () => {
  const [{ id }] = (await mail("list", "--failed", "--json")).json;
  const shown = (await mail("show", String(id), "--json")).json;
  expect(shown).toMatchObject({ kind: "invitation", state: "failed", reply: "550 no such user" });
  expect((await mail("show", "99")).stderr).toContain("not found");
  expect((await mail("retry")).code).toBe(2);
  expect((await mail("retry", String(id), "--json")).json).toEqual({ queued: 1 });
  expect((await mail("retry", String(id))).stderr).toContain("still waiting");
  failOne();
  failOne();
  expect((await mail("retry", "--failed", "--json")).json).toEqual({ queued: 2 });
  expect((await mail("list", "--failed", "--json")).json).toEqual([]);
});

const to = (port: number, user = "") => [
  "test",
  "you@x.example",
  "--smtp",
  `smtp://${user}127.0.0.1:${port}`,
  "--mail-from",
  "Nova <orders@nova.example>",
];

test("test sends at once and prints the answer, or why it was not sent", async () => {
  process.env["RESELLER_SMTP_PASSWORD"] = login.password;
  const sent = await mail(...to(server.port, "u@"));
  process.env["RESELLER_SMTP_PASSWORD"] = "wrong";
  const wrong = await mail(...to(server.port, "u@"));
  delete process.env["RESELLER_SMTP_PASSWORD"];
  expect([sent.code, sent.stderr]).toEqual([0, ""]);
  expect(sent.stdout).toStartWith("sent to you@x.example: 250");
  expect(server.received.map(({ mail: { subject }, user }) => [subject, user])).toEqual([
    ["Nova: test", "u"],
  ]);
  expect([wrong.code, wrong.stderr.includes("not sent (login): 535")]).toEqual([1, true]);
  const refused = await mail(...to(refusing.port));
  expect([refused.code, refused.stderr.includes("not sent (refused): 550")]).toEqual([1, true]);
});

test("a password on the command line is refused without repeating it", async () => {
  const inUrl = await mail(...to(server.port, "u:hunter2@"));
  expect([inUrl.code, inUrl.stderr.includes("RESELLER_SMTP_PASSWORD")]).toEqual([2, true]);
  const byFlag = await mail(...to(server.port, "u@"), "--smtp-password", "hunter2");
  expect([byFlag.code, byFlag.stderr.includes("read command lines")]).toEqual([2, true]);
  for (const { stderr } of [inUrl, byFlag]) expect(stderr).not.toContain("hunter2");
  const without = await mail(...to(server.port, "u@"));
  expect([without.code, without.stderr.includes("no password")]).toEqual([2, true]);
  const unset = await mail("test", "you@x.example");
  expect([unset.code, unset.stderr.includes("set --smtp")]).toEqual([2, true]);
});
