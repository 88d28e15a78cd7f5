// The panel's page of e-mails: what failed comes first with the reason, and can be sent again.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { findMail } from "../../../src/db/mails/mails.ts";
import { openPanel, type TestPanel } from "../../support/worlds/panel.ts";

const PATH = "/members/mails";
let panel: TestPanel;
beforeAll(async () => {
  panel = await openPanel();
  panel.user("alice");
});
afterAll(() => panel.stop());

test("without e-mail the page says how to turn it on", async () => {
  expect((await panel.get(PATH)).text).toContain("<code>--smtp</code>");
});

test("what failed comes first, with the mail server's answer as text, and is sent again", async () => {
  panel.run("setMailSettings", { active: true, operator: null });
  for (const name of ["ann", "bob"]) {
    const member = {
      email: `${name}@x.example`,
      name: null,
      role: "owner",
      language: "en",
    } as const;
    panel.run("inviteMember", { username: "alice", ...member, invitationHash: null });
  }
  const due = { server: "s", limit: 1, perHour: 9, hashes: ["a".repeat(64)], known: [] };
  const [taken] = panel.execute("takeDueMails", due, Date.now());
  const failed = {
    mailId: taken!.mailId,
    attempt: 1,
    error: "refused",
    reply: "550 <b>no</b>",
  } as const;
  panel.execute("recordMailAttempts", { attempts: [failed], jitter: 0 }, Date.now());
  const { text } = await panel.get(PATH);
  expect(text).toContain("refused: 550 &lt;b>no&lt;/b>");
  expect(text.indexOf("ann@x.example")).toBeLessThan(text.indexOf("bob@x.example"));
  expect(text).not.toContain("a".repeat(64));
  const { status, headers } = await panel.post(`${PATH}/${taken!.mailId}/retry`);
  expect([status, headers.get("location")]).toEqual([303, PATH]);
  expect(panel.read((reader) => findMail(reader, taken!.mailId))!.state).toBe("waiting");
  // One that waits is not sent twice.
  expect((await panel.post(`${PATH}/${taken!.mailId}/retry`)).status).toBe(422);
});
