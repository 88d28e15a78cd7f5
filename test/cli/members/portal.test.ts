// `admin portal`: the operator invites members, switches them and their portal, and decides registrations.

import { afterAll, expect, test } from "bun:test";
import { findMemberByEmail, listInvitedByEmail } from "../../../src/db/members/members.ts";
import { hashSecret } from "../../../src/web/sessions/session-cookie.ts";
import { openShop } from "../../support/worlds/shop.ts";
import { VISITOR } from "../../support/seeds/visitors.ts";

const shop = openShop();
afterAll(() => shop.close());

const portal = (...argv: string[]) => shop.cli("admin", "portal", ...argv);
const find = (email: string) =>
  shop.read((reader) => ({
    found: findMemberByEmail(reader, email) ?? listInvitedByEmail(reader, email, 1)[0],
  })).found;
const tokenIn = (text: string) => /\/portal\/set-up#([\w-]{43})$/m.exec(text)![1]!;

test("invite prints a link once, whose token the database has as a hash", async () => {
  const { code, stdout, stderr } = await portal("invite", "alice", "--email", "Ann@Alice.example");
  expect(code).toBe(0);
  // No server runs.
  expect(stderr).toContain("no portal runs here");
  const found = find("ann@alice.example")!;
  expect([found.role, found.passwordHash]).toEqual(["owner", null]);
  expect(found.invitationHash).toBe(hashSecret(tokenIn(stdout)));
  const other = ["--email", "bea@alice.example", "--role", "buyer", "--language", "tr"];
  const { json } = await portal(
    "invite",
    "alice",
    ...other,
    "--portal-url",
    "https://shop.example",
    "--json",
  );
  expect(json).toMatchObject({ email: "bea@alice.example", role: "buyer" });
  expect(json.link).toStartWith("https://shop.example/portal/set-up#");
});

test("members are listed, switched, and get links to new passwords", async () => {
  const early = await portal("reset-password", "ann@alice.example");
  expect([early.code, early.stderr.includes("no password yet")]).toEqual([1, true]);
  const { invitationHash } = find("ann@alice.example")!;
  shop.run("acceptInvitation", {
    site: "portal",
    invitationHash: invitationHash!,
    passwordHash: "p",
  });
  const reset = await portal("reset-password", "ann@alice.example");
  expect(find("ann@alice.example")!.invitationHash).toBe(hashSecret(tokenIn(reset.stdout)));
  expect((await portal("disable", "ann@alice.example", "--json")).json.active).toBe(false);
  expect((await portal("enable", "ann@alice.example", "--json")).json.active).toBe(true);
  expect((await portal("role", "ann@alice.example", "viewer", "--json")).json.role).toBe("viewer");
  const listed = (await portal("list", "--user", "ALICE", "--json")).json;
  expect(listed).toHaveLength(2);
  expect((await portal("list", "--user", "bob", "--json")).json).toEqual([]);
  expect((await portal("disable", "eve@alice.example")).stderr).toContain("member not found");
});

test("an address is changed, and one that several resellers invited is not guessed at", async () => {
  const { id } = find("ann@alice.example")!;
  const changed = await portal("set-email", "ann@alice.example", "Anna@alice.example", "--json");
  expect([changed.json.email, find("anna@alice.example")!.id]).toEqual(["anna@alice.example", id]);
  const taken = await portal("set-email", "bea@alice.example", "anna@alice.example");
  expect([taken.code, taken.stderr.includes("has that e-mail address already")]).toEqual([1, true]);
  await portal("set-email", "anna@alice.example", "ann@alice.example");
  for (const user of ["alice", "bob"]) await portal("invite", user, "--email", "two@x.example");
  const unclear = await portal("disable", "two@x.example");
  expect([unclear.code, unclear.stderr.includes("several resellers")]).toEqual([1, true]);
  shop.query("UPDATE members SET email = id || '@x.example' WHERE email = 'two@x.example'");
});

test("the portal of a reseller is switched, and its keys are chosen", async () => {
  expect((await portal("off", "alice", "--json")).json).toEqual({ user: "alice", portal: false });
  const [row] = (await portal("list", "--user", "alice", "--json")).json;
  expect(row.portal).toBe(false);
  await portal("on", "alice");
  expect((await portal("keys", "alice", "full", "--json")).json.keys).toBe("full");
  expect((await portal("keys", "alice", "none")).code).toBe(2);
});

test("visitors who wait are listed, approved with a link, or declined", async () => {
  for (const email of ["eve@new.example", "dan@new.example"]) {
    shop.run("register", { email, name: "New", language: "en", limit: 1000, from: VISITOR });
  }
  const waiting = (await portal("registrations", "--json")).json as { id: string; email: string }[];
  const [eve, dan] = ["eve@new.example", "dan@new.example"].map((email) =>
    waiting.find((visitor) => visitor.email === email)!,
  ) as [(typeof waiting)[0], (typeof waiting)[0]];
  const approved = await portal("approve", eve.id, "--username", "evie");
  expect(approved.stdout).toContain("Reseller evie: give eve@new.example this link");
  tokenIn(approved.stdout);
  expect((await portal("decline", dan.id, "--json")).json.declined).toBe(true);
  expect((await portal("registrations")).stdout).toContain("nobody waits");
  expect((await portal("approve", dan.id)).code).toBe(1);
});

test("where servers send e-mails, links are sent and not printed, unless --link asks for them", async () => {
  shop.run("setMailSettings", { active: true, operator: null });
  const queued = () =>
    shop.query<{ kind: string }>("SELECT kind FROM mails ORDER BY mail_id").map(({ kind }) => kind);
  const invited = await portal("invite", "alice", "--email", "carl@alice.example");
  expect(invited.stdout).toBe("carl@alice.example gets an e-mail with the link\n");
  const again = await portal("invite", "alice", "--email", "carl@alice.example", "--json");
  expect(again.json).toMatchObject({ email: "carl@alice.example", link: null, until: null });
  expect(find("carl@alice.example")!.invitationHash).toBe(null);
  const printed = await portal("invite", "alice", "--email", "carl@alice.example", "--link");
  expect(find("carl@alice.example")!.invitationHash).toBe(hashSecret(tokenIn(printed.stdout)));
  const { invitationHash } = find("carl@alice.example")!;
  const accepted = { site: "portal", invitationHash: invitationHash!, passwordHash: "p" } as const;
  shop.run("acceptInvitation", accepted);
  const reset = await portal("reset-password", "carl@alice.example");
  expect(reset.stdout).toContain("gets an e-mail");
  shop.run("register", {
    email: "dora@x.example",
    name: "Dora",
    language: "tr",
    limit: 9,
    from: VISITOR,
  });
  const [{ id }] = (await portal("registrations", "--json")).json;
  expect((await portal("approve", id)).stdout).toContain("dora@x.example gets an e-mail");
  // An invitation that waits is not sent twice.
  expect(queued()).toEqual(["invitation", "password_reset", "invitation"]);
  shop.run("setMailSettings", { active: false, operator: null });
});
