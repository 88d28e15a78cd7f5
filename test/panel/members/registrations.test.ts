// Registrations in the panel: visitors who asked for an account are counted, approved and declined; and what the panel
// says where the server does not serve the portal.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { listAuditEntries } from "../../../src/db/administrators/audit.ts";
import { listInvitedByEmail } from "../../../src/db/members/members.ts";
import { listRegistrations } from "../../../src/db/members/registrations.ts";
import { findUser } from "../../../src/db/users/users.ts";
import { hashSecret } from "../../../src/web/sessions/session-cookie.ts";
import { openPanel, type TestPanel } from "../../support/worlds/panel.ts";
import { VISITOR } from "../../support/seeds/visitors.ts";

let panel: TestPanel;
let off: TestPanel;
beforeAll(async () => {
  panel = await openPanel();
  off = await openPanel({ portal: { url: () => null, registration: "off" } });
});
afterAll(async () => {
  await panel.stop();
  await off.stop();
});

function waiting(where: TestPanel, email: string): string {
  where.run("register", { email, name: "<b>New</b>", language: "es", limit: 1000, from: VISITOR });
  return where.read(listRegistrations).find((each) => each.email === email)!.id;
}
const PATH = "/members/registrations";

test("those who wait are counted in the navigation and on Today, until they are decided", async () => {
  const texts = async () => {
    const { text } = await panel.get("/");
    return [
      /title="Registrations that wait for you">(\d+)</.exec(text)?.[1],
      /(\d+ visitors?) of the portal asked for an account/.exec(text)?.[1],
    ];
  };
  expect(await texts()).toEqual([undefined, undefined]);
  const ids = ["a@new.example", "b@new.example"].map((email) => waiting(panel, email));
  expect(await texts()).toEqual(["2", "2 visitors"]);
  const page = await panel.get(PATH);
  expect([page.text.includes("a@new.example"), page.text.includes("<b>")]).toEqual([true, false]);
  await panel.confirm(`${PATH}/${ids[0]}/decline`, {});
  expect(await texts()).toEqual(["1", "1 visitor"]);
  await panel.post(`${PATH}/${ids[1]}/approve`);
  expect(await texts()).toEqual([undefined, undefined]);
});

test("a visitor whose address is not proved yet is neither counted nor decided", async () => {
  panel.run("setMailSettings", { active: true, operator: null });
  const from = { address: "192.0.2.7", network: "192.0.2.7", userAgent: "" };
  const visitor = { email: "unproved@new.example", name: "New", language: "en" } as const;
  panel.run("askAccount", { ...visitor, limit: 1000, from });
  panel.run("setMailSettings", { active: false, operator: null });
  const [row] = panel.query<{ id: string }>(
    "SELECT id FROM registrations WHERE email = ?",
    visitor.email,
  );
  expect((await panel.get("/")).text).not.toContain("asked for an account");
  const { text: list } = await panel.get(PATH);
  expect([list.includes(visitor.email), list.includes("1 visitor got a link")]).toEqual([
    false,
    true,
  ]);
  const before = panel.fingerprint();
  for (const decision of ["approve", "decline"]) {
    const { text } = await panel.post(`${PATH}/${row!.id}/${decision}`);
    expect([decision, text.includes("Registration not found")]).toEqual([decision, true]);
  }
  expect(panel.fingerprint()).toBe(before);
});

test("to approve creates a reseller, and shows the link for its first owner once", async () => {
  const id = waiting(panel, "eve@new.example");
  const { status, text } = await panel.post(`${PATH}/${id}/approve`, { username: "evie" });
  expect(status).toBe(200);
  const [, token] = /https:\/\/shop\.example\/portal\/set-up#([\w-]{43})/.exec(text)!;
  const owner = panel.read((reader) => listInvitedByEmail(reader, "eve@new.example", 2))[0]!;
  expect(owner).toMatchObject({ role: "owner", language: "es", passwordHash: null });
  expect(owner.invitationHash).toBe(hashSecret(token!));
  expect(panel.read((reader) => findUser(reader, "evie"))!.account).toBe(owner.account);
  const [entry] = panel.read((reader) => listAuditEntries(reader, { limit: 1 }));
  expect(entry).toMatchObject({ action: "registration.approve", operator: "panel:tester" });
  const again = await panel.post(`${PATH}/${id}/approve`);
  expect([again.status, again.text.includes("Registration not found")]).toEqual([422, true]);
});

test("a username that is taken is refused beside its field, and the visitor still waits", async () => {
  const id = waiting(panel, "dan@new.example");
  const before = panel.fingerprint();
  const { status, text } = await panel.post(`${PATH}/${id}/approve`, { username: "evie" });
  expect([status, /id="[^"]*username-error"/.test(text)]).toEqual([422, true]);
  expect(panel.fingerprint()).toBe(before);
});

test("to decline asks first, and deletes what the visitor gave", async () => {
  const id = waiting(panel, "fay@new.example");
  const before = panel.fingerprint();
  expect((await panel.post(`${PATH}/${id}/decline`)).text).toContain("Decline fay@new.example?");
  expect(panel.fingerprint()).toBe(before);
  const { status } = await panel.confirm(`${PATH}/${id}/decline`, {});
  expect(status).toBe(303);
  expect(panel.read(listRegistrations).some((each) => each.id === id)).toBe(false);
});

test("where the portal is off the pages say how to turn it on, and no link to it is made", async () => {
  off.user("alice", "0");
  const id = waiting(off, "gus@new.example");
  for (const path of ["/members", PATH, "/users/alice/members"]) {
    const { text } = await off.get(path);
    expect([path, text.includes("<code>--portal</code>")]).toEqual([path, true]);
  }
  expect((await off.get("/users/alice/members")).text).not.toContain("Invite a member");
  const before = off.fingerprint();
  const tries: [string, Record<string, string>][] = [
    ["/users/alice/members", { email: "ann@x.example", role: "viewer", language: "en" }],
    [`${PATH}/${id}/approve`, {}],
  ];
  for (const [path, fields] of tries) {
    const { status, text } = await off.post(path, fields);
    expect([path, status, text.includes("start the server with --portal")]).toEqual([
      path,
      422,
      true,
    ]);
  }
  expect(off.fingerprint()).toBe(before);
});
