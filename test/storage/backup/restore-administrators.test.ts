// What a restore does to administrators and members: nobody stays signed in, and nobody gets back what was
// taken away since.

import { join } from "node:path";
import { expect, test } from "bun:test";
import {
  findAdministrator,
  PANEL_SIGN_INS,
} from "../../../src/db/administrators/administrators.ts";
import { findMember, mayUsePortal } from "../../../src/db/members/members.ts";
import { mayAct, ROLES } from "../../../src/domain/administrators/administrators.ts";
import {
  mayMember,
  MEMBER_PERMISSIONS,
  MEMBER_ROLES,
  type MemberRole,
} from "../../../src/domain/members/members.ts";
import { copyDatabase } from "../../../src/storage/backup/copy.ts";
import { openShop, reseller, type Shop } from "../../support/worlds/shop.ts";
import { PASSWORD_HASH } from "../../support/worlds/panel.ts";
import { freshSqliteDatabase } from "../../support/databases/test-database.ts";

test("sessions end, an administrator who was disabled stays so, and reverted changes are named without a secret", async () => {
  const shop = openShop();
  for (const name of ["alice", "bob"]) {
    const invitationHash = name.padEnd(64, "0");
    shop.run("inviteAdministrator", { name, role: "owner", invitationHash });
    shop.run("acceptInvitation", { site: "panel", invitationHash, passwordHash: PASSWORD_HASH });
    shop.run("openSession", {
      site: "panel",
      attempt: null,
      person: name,
      passwordHash: PASSWORD_HASH,
      session: {
        id: `${name}-0123456789012345`,
        hash: "0".repeat(64),
        address: "::1",
        userAgent: "",
      },
    });
  }
  const file = join(shop.folder, "copy.db");
  copyDatabase(shop.connection.path, file);
  shop.run("setAdministratorActive", { name: "bob", active: false });
  shop.run("setPassword", { site: "panel", person: "alice", passwordHash: "$another" });
  shop.close();
  const { code, json } = await reseller("restore", file, "--data", shop.folder, "--json");
  expect(code).toBe(0);
  expect(json.changes).toContainEqual({
    subject: "administrator alice",
    since: "another password",
    now: "the backup's password",
  });
  expect(JSON.stringify(json)).not.toMatch(/argon2|another"/);
  const restored = freshSqliteDatabase(shop.folder);
  restored.read((reader) => {
    expect(PANEL_SIGN_INS.listSessions(reader)).toEqual([]);
    expect(findAdministrator(reader, "bob")!.active).toBe(false);
    expect(findAdministrator(reader, "alice")!.active).toBe(true);
  });
  restored.close();
});

test("a member who was disabled since, or whose reseller or portal was switched off, stays out of the portal", async () => {
  const shop = openShop();
  const invite = (username: string, email: string): string =>
    shop.run("inviteMember", {
      username,
      email,
      name: null,
      role: "owner",
      language: "en",
      invitationHash: email.padEnd(64, "0"),
    });
  for (const username of ["dora", "eric"]) shop.user(username);
  const [disabled, colleague] = [invite("alice", "a@x.example"), invite("alice", "b@x.example")];
  const [inactive, off] = [invite("dora", "c@x.example"), invite("eric", "d@x.example")];
  // Kept out at the time of the backup too: this member is not disabled.
  const before = invite("bob", "e@x.example");
  shop.run("setPortal", { username: "bob", changes: { active: false } });
  const file = join(shop.folder, "copy.db");
  copyDatabase(shop.connection.path, file);
  shop.run("setMemberActive", { id: disabled, active: false });
  shop.run("setUserActive", { username: "dora", active: false });
  shop.run("setPortal", { username: "eric", changes: { active: false } });
  shop.close();
  expect((await reseller("restore", file, "--data", shop.folder, "--json")).code).toBe(0);
  const restored = freshSqliteDatabase(shop.folder);
  restored.read((reader) => {
    const member = (id: string) => findMember(reader, id)!;
    for (const id of [disabled, inactive, off]) {
      expect(member(id)).toMatchObject({ active: false, invitationHash: null });
    }
    expect(mayUsePortal(reader, member(colleague))).toBe(true);
    expect(member(before).active).toBe(true);
  });
  restored.close();
});

const ROLE_CHANGES = MEMBER_ROLES.flatMap((was) => MEMBER_ROLES.map((since) => ({ was, since })));

test("no member gets back a permission that another role took away since", async () => {
  const shop = openShop();
  const members = ROLE_CHANGES.map(({ was, since }, index) => ({
    was,
    since,
    id: invited(shop, was, `r${index}@x.example`),
  }));
  const file = join(shop.folder, "copy.db");
  copyDatabase(shop.connection.path, file);
  for (const { id, since } of members) shop.run("setMemberRole", { id, role: since });
  shop.close();
  expect((await reseller("restore", file, "--data", shop.folder, "--json")).code).toBe(0);
  const restored = freshSqliteDatabase(shop.folder);
  for (const { id, was, since } of members) {
    const { role } = restored.read((reader) => findMember(reader, id)!);
    const lost = MEMBER_PERMISSIONS.filter(
      (each) => mayMember(was, each) && !mayMember(since, each),
    );
    expect([was, since, role]).toEqual([was, since, lost.length > 0 ? since : was]);
    expect(lost.filter((each) => mayMember(role, each))).toEqual([]);
  }
  restored.close();
});

test("no administrator gets back a role that was taken away since", async () => {
  const shop = openShop();
  const changes = ROLES.flatMap((was) => ROLES.map((since) => ({ was, since })));
  changes.forEach(({ was }, index) => {
    const invitationHash = String(index).padStart(64, "0");
    shop.run("inviteAdministrator", { name: `a${index}`, role: was, invitationHash });
    const accepted = { invitationHash, passwordHash: PASSWORD_HASH };
    shop.run("acceptInvitation", { site: "panel", ...accepted });
  });
  const file = join(shop.folder, "copy.db");
  copyDatabase(shop.connection.path, file);
  changes.forEach(({ since }, index) =>
    shop.run("setAdministratorRole", { name: `a${index}`, role: since }),
  );
  shop.close();
  expect((await reseller("restore", file, "--data", shop.folder, "--json")).code).toBe(0);
  const restored = freshSqliteDatabase(shop.folder);
  changes.forEach(({ was, since }, index) => {
    const { role } = restored.read((reader) => findAdministrator(reader, `a${index}`)!);
    expect([was, since, role]).toEqual([was, since, mayAct(since, was) ? was : since]);
  });
  restored.close();
});

test("a link that was used, replaced or ended since the backup does not work again; one that is open still does", async () => {
  const shop = openShop();
  const fates = ["used", "replaced", "ended", "open"] as const;
  const hashOf = (fate: string) => fate.padEnd(64, "0");
  const people = fates.map((fate) => {
    const invitationHash = hashOf(fate);
    shop.run("inviteAdministrator", { name: fate, role: "support", invitationHash });
    return { fate, id: invited(shop, "owner", `${fate}@x.example`, invitationHash) };
  });
  const file = join(shop.folder, "copy.db");
  copyDatabase(shop.connection.path, file);
  for (const { fate, id } of people) {
    const invitationHash = hashOf(fate);
    if (fate === "used") {
      for (const site of ["panel", "portal"] as const) {
        shop.run("acceptInvitation", { site, invitationHash, passwordHash: PASSWORD_HASH });
      }
    }
    if (fate === "replaced") {
      invited(shop, "owner", `${fate}@x.example`, hashOf("new"));
      shop.run("inviteAdministrator", {
        name: fate,
        role: "support",
        invitationHash: hashOf("new"),
      });
    }
    if (fate === "ended") {
      shop.run("setMemberActive", { id, active: false });
      shop.run("setMemberActive", { id, active: true });
      shop.run("setAdministratorActive", { name: fate, active: false });
      shop.run("setAdministratorActive", { name: fate, active: true });
    }
  }
  shop.close();
  expect((await reseller("restore", file, "--data", shop.folder, "--json")).code).toBe(0);
  const restored = freshSqliteDatabase(shop.folder);
  for (const { fate, id } of people) {
    const expected = fate === "open" ? hashOf(fate) : null;
    const found = restored.read((reader) => [
      findMember(reader, id)!.invitationHash,
      findAdministrator(reader, fate)!.invitationHash,
    ]);
    expect([fate, ...found]).toEqual([fate, expected, expected]);
  }
  restored.close();
});

function invited(shop: Shop, role: MemberRole, email: string, hash?: string): string {
  const invitationHash = hash ?? email.padEnd(64, "0");
  const invitation = { email, name: null, role, language: "en", invitationHash } as const;
  return shop.run("inviteMember", { username: "alice", ...invitation });
}
