// What a restore does to e-mails: none of the backup is sent by itself, whatever became of it since, and nobody gets a
// kind again that was turned off since.

import { join } from "node:path";
import { expect, test } from "bun:test";
import { listMails } from "../../../src/db/mails/mails.ts";
import { findMember } from "../../../src/db/members/members.ts";
import { MAIL_STATES } from "../../../src/domain/mails/mails.ts";
import { MAIL_CHOICES } from "../../../src/domain/members/members.ts";
import { startMails } from "../../../src/mails/worker.ts";
import { systemClock } from "../../../src/scheduling/clock.ts";
import { copyDatabase } from "../../../src/storage/backup/copy.ts";
import { freshSqliteDatabase, type TestDatabase } from "../../support/databases/test-database.ts";
import { startMailServer } from "../../support/peers/mail-server.ts";
import { until } from "../../support/until.ts";
import { mailDeps } from "../../support/worlds/mailing.ts";
import { openShop, reseller, type Shop } from "../../support/worlds/shop.ts";

const HOUR = 3_600_000;
const NEVER_MS = 600_000;

function invite(shop: Pick<TestDatabase, "run">, email: string): string {
  const member = {
    email,
    name: null,
    role: "owner",
    language: "en",
    invitationHash: null,
  } as const;
  return shop.run("inviteMember", { username: "alice", ...member });
}

/** Brings the only mail that waits to a state. */
function bring(shop: Shop, state: (typeof MAIL_STATES)[number], now: number): void {
  if (state === "waiting") return;
  if (state === "dropped") {
    shop.run("setMailSettings", { active: false, operator: null });
    shop.run("setMailSettings", { active: true, operator: null });
    return;
  }
  const hashes = [crypto.randomUUID().replaceAll("-", "").padEnd(64, "0")];
  const command = { server: "gone", limit: 1, perHour: 20, hashes, known: [] };
  const [due] = shop.execute("takeDueMails", command, now);
  if (state === "sending") return;
  const { mailId, attempt } = due!;
  const error = state === "sent" ? null : ("refused" as const);
  const attempts = [{ mailId, attempt, error, reply: null }];
  shop.execute("recordMailAttempts", { attempts, jitter: 0 }, now);
}

test("no mail of a backup is sent after the restore, in whatever state it was and is; a new one is, and one sent again by hand", async () => {
  const shop = openShop();
  shop.run("setMailSettings", { active: true, operator: null });
  const now = Date.now() + HOUR;
  // Those that wait or are being sent are made last, because the others are brought to their states one by one.
  const states = [...MAIL_STATES].toReversed();
  for (const state of states) {
    invite(shop, `${state}@x.example`);
    bring(shop, state, now);
  }
  const emails = () => shop.read((reader) => listMails(reader, 100, false));
  expect(emails().map(({ email, state }) => email === `${state}@x.example`)).not.toContain(false);
  const file = join(shop.folder, "backup.db");
  copyDatabase(shop.connection.path, file);
  shop.close();

  const data = ["--data", shop.folder];
  const { code, json } = await reseller("restore", file, ...data, "--json");
  expect([code, json.mailsDropped]).toEqual([0, 2]);
  const shown = await reseller("restore", file, ...data);
  expect(shown.stdout).toContain("e-mails waiting in the backup (2): dropped");
  const restored = freshSqliteDatabase(shop.folder);
  const server = await startMailServer();
  const clock = { ...systemClock, now: () => Date.now() + 100 * HOUR };
  const deps = mailDeps(restored, server, { clock });
  const service = startMails(deps);
  const after = () => restored.read((reader) => listMails(reader, 100, false));
  const waiting = after().find(({ email }) => email === "waiting@x.example")!;
  expect((await reseller("admin", "mail", "retry", String(waiting.mailId), ...data)).code).toBe(0);
  invite(restored, "new@x.example");
  await until(() => after().filter(({ state }) => state === "sent").length === 3);
  await service.stop(NEVER_MS);
  deps.ticker.stop();
  await server.close();
  expect(server.received.map(({ to }) => to).toSorted()).toEqual([
    "new@x.example",
    "waiting@x.example",
  ]);
  expect(after().find(({ email }) => email === "sending@x.example")!.state).toBe("dropped");
  restored.close();
});

const FATES = ["off since", "on since", "off", "on"] as const;
const CHANGES = MAIL_CHOICES.flatMap((choice) => FATES.map((fate) => ({ choice, fate })));

test("a kind of e-mail that a member turned off since stays off, and every other choice is as in the backup", async () => {
  const shop = openShop();
  shop.run("setMailSettings", { active: true, operator: null });
  const members = CHANGES.map((change, index) => ({
    ...change,
    id: invite(shop, `m${index}@x.example`),
  }));
  const choose = (id: string, choice: string, isOn: boolean) => {
    const mails = MAIL_CHOICES.filter((each) => (each === choice ? isOn : true)).join(",");
    shop.run("updateMember", {
      changes: { mails },
      actor: { keyId: null, operator: `member:${id}` },
    });
  };
  for (const { id, choice, fate } of members)
    choose(id, choice, fate === "off since" || fate === "on");
  const file = join(shop.folder, "backup.db");
  copyDatabase(shop.connection.path, file);
  for (const { id, choice, fate } of members)
    choose(id, choice, fate === "on since" || fate === "on");
  shop.close();
  expect((await reseller("restore", file, "--data", shop.folder, "--json")).code).toBe(0);
  const restored = freshSqliteDatabase(shop.folder);
  for (const { id, choice, fate } of members) {
    const { mails } = restored.read((reader) => findMember(reader, id)!);
    const expected = MAIL_CHOICES.filter((each) => each !== choice || fate === "on");
    expect([choice, fate, mails]).toEqual([choice, fate, expected.join(",")]);
  }
  const noted = restored.query<{ subject: string }>(
    "SELECT subject FROM audit WHERE action = 'member.update' AND operator NOT LIKE 'member:%'",
  );
  const off = members.filter(({ fate }) => fate === "off since").map(({ id }) => id);
  expect(noted.map(({ subject }) => subject).toSorted()).toEqual(off.toSorted());
  restored.close();
});
