// What a restore does to administrators and members: nobody stays signed in, and who was kept out since stays so.

import { join } from "node:path";
import { expect, test } from "bun:test";
import {
  findAdministrator,
  PANEL_SIGN_INS,
} from "../../../src/db/administrators/administrators.ts";
import { findMember, mayUsePortal } from "../../../src/db/members/members.ts";
import { copyDatabase } from "../../../src/storage/backup/copy.ts";
import { openShop, reseller } from "../../support/worlds/shop.ts";
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
