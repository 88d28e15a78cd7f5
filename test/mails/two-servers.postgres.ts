// Two servers of one database, started as `serve` starts them, each with a mail server of its own: every mail is sent by one
// of them, and what one leaves the other sends.

import { expect, test } from "bun:test";
import { mailFrom, mailServer } from "../../src/config/mail-values.ts";
import { freshPostgresDatabase } from "../support/databases/test-database.ts";
import { type MailServerPeer, startMailServer } from "../support/peers/mail-server.ts";
import { startTestService } from "../support/worlds/service.ts";
import { freshFolder } from "../support/folders.ts";
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
