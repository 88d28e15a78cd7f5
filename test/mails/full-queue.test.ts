// A full queue: mails are sent a few at a time, each once, and orders go on meanwhile.

import { expect, test } from "bun:test";
import { countWaitingMails } from "../../src/db/mails/mails.ts";
import { MAILS_LIMIT, startMails } from "../../src/mails/worker.ts";
import { startMailServer } from "../support/peers/mail-server.ts";
import { runs } from "../support/runs.ts";
import { until } from "../support/until.ts";
import { mailDeps } from "../support/worlds/mailing.ts";
import { openShop } from "../support/worlds/shop.ts";

const WAITING = 10_000;
/** Number of mails until which the test waits: a server sends 16 a second, and at night as many as it can. */
const SENT = runs(50, WAITING);
const PACE = runs({}, { paceMs: 0 });
/** A minute on two idle cores. */
const LIMIT_MS = 3_600_000;

test(
  "of 10,000 mails that wait each is sent at most once, a few at a time, while orders are placed",
  async () => {
    const shop = openShop();
    shop.run("setMailSettings", { active: true, operator: null });
    const member = { email: "ann@x.example", name: null, role: "owner", language: "en" } as const;
    const invitationHash = "1".repeat(64);
    const id = shop.run("inviteMember", { username: "alice", ...member, invitationHash });
    shop.run("acceptInvitation", { site: "portal", invitationHash, passwordHash: "p" });
    const data = JSON.stringify({ balanceMicros: "1", thresholdMicros: 2 });
    shop.query(
      `INSERT INTO mails (mail_id, id, kind, account, member, email, data, state, due_at, created_at)
     WITH RECURSIVE counted (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < ${WAITING})
     SELECT n, 'evt_0000000000000' || (10000000000 + n), 'low_balance', account, id, email, '${data}',
       'waiting', 1, 1
     FROM counted, members WHERE id = '${id}'`,
    );
    const server = await startMailServer();
    const deps = mailDeps(shop, server, { perHour: 1_000_000, ...PACE });
    const started = performance.now();
    const service = startMails(deps);
    let orders = 0;
    await until(() => {
      if (orders < 1000) shop.order(10);
      orders += 1;
      return server.received.length >= SENT;
    });
    const seconds = (performance.now() - started) / 1000;
    console.log(`${server.received.length} e-mails in ${seconds.toFixed(1)} s`);
    await service.stop(600_000);
    deps.ticker.stop();
    await server.close();
    const ids = server.received.map(({ mail }) => mail.messageId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(shop.read(countWaitingMails)).toBe(WAITING - ids.length);
    expect(server.mostOpen()).toBeLessThanOrEqual(MAILS_LIMIT);
    expect(shop.query("SELECT 1 FROM orders").length).toBe(Math.min(orders, 1000));
    shop.close();
  },
  LIMIT_MS,
);
