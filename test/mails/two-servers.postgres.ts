// Two servers of one database, started as `serve` starts them, each with a mail server of its own: every mail is sent by one
// of them, and what one leaves, or was killed over, the other sends.

import { expect, test } from "bun:test";
import { mailFrom, mailServer } from "../../src/config/mail-values.ts";
import { freshPostgresDatabase } from "../support/databases/test-database.ts";
import { findInvitedMember } from "../../src/db/members/members.ts";
import { hashSecret } from "../../src/web/sessions/session-cookie.ts";
import { startScriptedMailServer } from "../support/peers/scripted-mail-server.ts";
import { spawnServe } from "../support/process.ts";
import { askPayment, seedMember, seedMethod } from "../support/seeds/payments.ts";
import { type MailServerPeer, startMailServer } from "../support/peers/mail-server.ts";
import { startTestService } from "../support/worlds/service.ts";
import { freshFolder } from "../support/folders.ts";
import { runs } from "../support/runs.ts";
import { until } from "../support/until.ts";

const MAILS = 60;

test("every mail is sent by one of two servers, and those of a server that stops by the other", async () => {
  const database = freshPostgresDatabase();
  database.user("alice");
  const peers: MailServerPeer[] = [await startMailServer(), await startMailServer()];
  const services = await Promise.all(
    peers.map(({ port }, index) =>
      startTestService({
        ...database.location,
        data: freshFolder(),
        server: `server-${index}`,
        smtp: mailServer.parse(`smtp://127.0.0.1:${port}`),
        mailFrom: mailFrom.parse("orders@nova.example"),
        mailPerHour: 1000,
      }),
    ),
  );
  for (let each = 0; each < MAILS; each += 1) {
    const member = {
      email: `m${each}@x.example`,
      name: null,
      role: "viewer",
      language: "en",
    } as const;
    database.run("inviteMember", { username: "alice", ...member, invitationHash: null });
  }
  const sent = () => peers.flatMap(({ received }) => received.map(({ to }) => to));
  await until(() => peers.every(({ received }) => received.length > 0));
  await services[0]!.stop();
  await until(() => sent().length >= MAILS);
  await services[1]!.stop();
  expect(sent().toSorted()).toEqual(
    Array.from({ length: MAILS }, (_, each) => `m${each}@x.example`).toSorted(),
  );
  const states = database.query<{ state: string }>("SELECT DISTINCT state FROM mails");
  expect(states).toEqual([{ state: "sent" }]);
  for (const peer of peers) await peer.close();
  database.close();
});

test("mails that a server was killed over after sending are sent once more by the other: with the same id, or with another id and a link that works", async () => {
  const database = freshPostgresDatabase();
  const actor = seedMember(database, "alice");
  database.run("setMailSettings", { active: true, operator: null });
  seedMethod(database, "bank", "manual");
  const invite = (email: string) => {
    const member = { email, name: null, role: "viewer", language: "en" } as const;
    return database.run("inviteMember", { username: "alice", ...member, invitationHash: null });
  };
  for (let each = 0; each < 2; each += 1) {
    invite(`new${each}@x.example`);
    const id = askPayment(database, { methodId: "bank", actor, now: Date.now() });
    database.run("approvePayment", { id, receivedMicros: null, creditMicros: 1 });
  }
  // It takes the text of each mail, and its server never hears of it.
  const deaf = await startScriptedMailServer((step) => (step === "end" ? "silence" : null));
  const peer = await startScriptedMailServer(() => null);
  const start = (name: string, port: number) =>
    spawnServe(
      freshFolder(),
      "--database",
      database.location.database!,
      "--server",
      name,
      "--portal",
      "--smtp",
      `smtp://127.0.0.1:${port}`,
      "--mail-from",
      "orders@nova.example",
    );
  const first = await start("first", deaf.port);
  await until(() => deaf.arrived.length === 4);
  const second = await start("second", peer.port);
  const later = Array.from({ length: 6 }, (_, each) => `later${each}@x.example`);
  for (const email of later) invite(email);
  const sent = () => database.query("SELECT 1 AS one FROM mails WHERE state = 'sent'").length;
  await until(() => sent() === later.length);
  expect(peer.arrived.map(({ to }) => to).toSorted()).toEqual(later);
  await first.kill();
  // Alone, the other server waits for the end of the lease: 30 s.
  const restarted = runs(true, false) ? await start("first", peer.port) : null;
  await until(() => sent() === later.length + 4);
  for (const server of [second, restarted]) await server?.stop();
  for (const server of [deaf, peer]) await server.close();
  expect([deaf.arrived.length, peer.arrived.length]).toEqual([4, later.length + 4]);
  for (const before of deaf.arrived) {
    const again = peer.arrived.filter(({ to }) => to === before.to);
    const isLink = before.link !== null;
    const isSame = again.some(({ messageId }) => messageId === before.messageId);
    expect([before.to, isSame]).toEqual([before.to, !isLink]);
    if (!isLink) continue;
    const worksFor = (token: string) =>
      database.read((reader) => findInvitedMember(reader, hashSecret(token)))?.email;
    expect(worksFor(before.link!)).toBeUndefined();
    expect(worksFor(again[0]!.link!)).toBe(before.to);
  }
  database.close();
});
