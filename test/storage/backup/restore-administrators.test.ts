// What a restore does to the administrators of the panel: nobody stays signed in, and who was disabled since stays so.

import { join } from "node:path";
import { expect, test } from "bun:test";
import {
  findAdministrator,
  PANEL_SIGN_INS,
} from "../../../src/db/administrators/administrators.ts";
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
