// E-mails on both engines: which are queued, which a server takes, and what follows from the attempts that it records.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { numbersBy } from "../../../src/db/ledger/number-floors.ts";
import { findMember } from "../../../src/db/members/members.ts";
import { listMails, nextMailDueAt } from "../../../src/db/mails/mails.ts";
import { MAIL_STEPS_MS, mailPauseMs } from "../../../src/domain/mails/mail-schedule.ts";
import {
  isServerFailure,
  MAIL_FAILURES,
  MAIL_LEASE_MS,
  MAIL_RETENTION_MS,
  type MailFailure,
} from "../../../src/domain/mails/mails.ts";
import type { DueMail } from "../../../src/operations/mails/mail-deliveries.ts";
import { refusalCode } from "../../support/http/refusal.ts";
import { verifyStore } from "../../support/databases/verify.ts";
import { openShop, type Shop } from "../../support/worlds/shop.ts";

const [A, B] = ["server-a", "server-b"];
const HOUR = 3_600_000;
const hashes = Array.from({ length: 64 }, (_, index) => String(index).padStart(64, "c"));

let shop: Shop;
let made = 0;
beforeEach(() => {
  shop = openShop();
  shop.run("setMailSettings", { active: true, operator: "op@shop.example" });
});
afterEach(() => shop.close());

/** A member of alice who has signed in once. */
function member(email = `m${(made += 1)}@x.example`): string {
  const invitationHash = email.padStart(64, "0");
  const invitation = { email, name: null, role: "owner", language: "tr", invitationHash } as const;
  const id = shop.run("inviteMember", { username: "alice", ...invitation });
  shop.run("acceptInvitation", { site: "portal", invitationHash, passwordHash: "p" });
  signIn(id, "10.0.0.0/24");
  return id;
}

let sessions = 0;
function signIn(person: string, network: string): void {
  const id = `session-${(sessions += 1)}`.padEnd(20, "x");
  const session = { id, hash: "0".repeat(64), address: "10.1.2.3", userAgent: "Firefox" };
  const opened = { site: "portal", attempt: null, person, passwordHash: "p", session, network };
  shop.run("openSession", opened as never);
}

function take(now: number, { server = A!, limit = 20, perHour = 20, known = [] as never[] } = {}) {
  return shop.execute("takeDueMails", { server, limit, perHour, hashes, known }, now);
}

function record({ mailId, attempt }: DueMail, error: MailFailure | null, now: number) {
  const attempts = [{ mailId, attempt, error, reply: error && `550 ${error}` }];
  return shop.execute("recordMailAttempts", { attempts, jitter: 0.5 }, now)[0]?.result;
}

const all = () => shop.read((reader) => listMails(reader, 100, false));
const states = () => all().map(({ state }) => state);
/** Later than everything that a test has queued. */
const NOW = Date.now() + HOUR;

describe("a sign-in", () => {
  test("from a network that is not known queues one mail, the first sign-in and known networks none", () => {
    const id = member();
    expect(all()).toEqual([]);
    signIn(id, "10.0.0.0/24");
    expect(all()).toEqual([]);
    signIn(id, "10.1.2.0/24");
    signIn(id, "10.1.2.0/24");
    expect(all()).toMatchObject([{ kind: "sign_in", member: id, state: "waiting", attempts: 0 }]);
    expect(JSON.parse(all()[0]!.data)).toEqual({
      address: "10.1.2.3",
      userAgent: "Firefox",
      at: all()[0]!.createdAt,
    });
  });

  test("queues nothing for a member who turned these mails off, nor where no server sends any", () => {
    const id = member();
    const actor = { keyId: null, operator: `member:${id}` };
    shop.run("updateMember", { changes: { mails: "payment" }, actor });
    signIn(id, "10.1.2.0/24");
    shop.run("updateMember", { changes: { mails: "sign_in" }, actor });
    shop.run("setMailSettings", { active: false, operator: null });
    signIn(id, "10.1.3.0/24");
    expect(all()).toEqual([]);
  });
});

/** A mail that waits. */
function waiting(count = 1): string {
  const id = member();
  for (let each = 0; each < count; each += 1) signIn(id, `10.1.${each}.0/24`);
  return id;
}

test("two servers share the due mails, and each is taken once", () => {
  waiting(6);
  const taken = [...take(NOW, { limit: 4 }), ...take(NOW, { server: B!, limit: 4 }), ...take(NOW)];
  expect(taken.length).toBe(6);
  expect(new Set(taken.map(({ mailId }) => mailId)).size).toBe(6);
  expect(taken[0]).toMatchObject({ kind: "sign_in", attempt: 1, language: "tr", linkHash: null });
});

test("after the clock was set back no mail waits longer than its pause: new, deferred or in flight", () => {
  const HOUR_BACK = NOW - 10 * HOUR;
  waiting(3);
  const [deferred, flying] = take(NOW, { limit: 2 });
  expect(record(deferred!, "deferred", NOW)).toBe("waiting");
  shop.execute("clampSchedules", { pollIntervalMs: 1, submitBackoffLimitMs: 1 }, HOUR_BACK);
  // The third was queued in what is the future now.
  const fresh = take(HOUR_BACK).map(({ mailId }) => mailId);
  expect(fresh).not.toContain(deferred!.mailId);
  expect(fresh.length).toBe(1);
  const after = HOUR_BACK + MAIL_STEPS_MS[0]! * 1.2;
  expect(take(after).map(({ mailId }) => mailId)).toEqual([deferred!.mailId]);
  const overdue = take(HOUR_BACK + MAIL_LEASE_MS).map(({ mailId }) => mailId);
  expect(overdue).toContain(flying!.mailId);
});

test("a mail that was sent is sent no more, and recording it again changes nothing", () => {
  waiting();
  const [due] = take(NOW);
  expect(record(due!, null, NOW)).toBe("sent");
  const after = shop.dump();
  expect(record(due!, null, NOW + 1)).toBe("late");
  expect(record(due!, "refused", NOW + 1)).toBe("late");
  expect(take(NOW + 100 * HOUR)).toEqual([]);
  expect(shop.dump()).toBe(after);
});

describe.each(MAIL_FAILURES)("a mail that fails: %s", (failure) => {
  test("waits for each pause of the schedule and is given up at its end, or at once if it was refused", () => {
    waiting();
    let now = NOW;
    let attempts = 0;
    for (let due = take(now)[0]; due; due = take(now)[0]) {
      attempts += 1;
      expect(due.attempt).toBe(attempts);
      const result = record(due, failure, now);
      const pause = mailPauseMs(attempts, failure, 0.5);
      expect(result).toBe(pause === null ? "failed" : "waiting");
      if (pause === null) continue;
      expect(take(now + pause - 1)).toEqual([]);
      now += pause;
      expect(shop.read(nextMailDueAt)).toBe(now);
    }
    expect(attempts).toBe(failure === "refused" ? 1 : MAIL_STEPS_MS.length + 1);
    expect(all()[0]).toMatchObject({ state: "failed", error: failure, reply: `550 ${failure}` });
  });
});

test("when the mail server can be used again, the mails that failed because of it are due, and no others", () => {
  for (const failure of MAIL_FAILURES) {
    const id = waiting();
    const due = take(NOW).find(
      ({ email }) => email === all().find((mail) => mail.member === id)!.email,
    )!;
    record(due, failure, NOW);
  }
  waiting();
  const [sending] = take(NOW);
  expect(shop.execute("resumeMails", null, NOW + 1)).toBe(
    MAIL_FAILURES.filter(isServerFailure).length,
  );
  const found = all().filter(({ dueAt }) => dueAt === NOW + 1);
  expect(found.map(({ error }) => error as MailFailure).every(isServerFailure)).toBe(true);
  expect(all().find(({ mailId }) => mailId === sending!.mailId)!.dueAt).toBe(NOW + MAIL_LEASE_MS);
});

test("a mail that a killed server was sending is due when another starts, or when its lease ends", () => {
  waiting();
  const [first] = take(NOW);
  expect(shop.execute("releaseMails", { server: A! }, NOW)).toBe(0);
  expect(take(NOW + MAIL_LEASE_MS - 1, { server: B! })).toEqual([]);
  expect(shop.execute("releaseMails", { server: B! }, NOW + 1)).toBe(1);
  const [second] = take(NOW + 1, { server: B! });
  expect([second!.id, second!.attempt]).toEqual([first!.id, 2]);
  const [third] = take(NOW + 1 + MAIL_LEASE_MS);
  expect(third!.attempt).toBe(3);
  // A success whose lease had ended is a success.
  expect(record(first!, null, NOW + 2)).toBe("sent");
  expect(record(third!, "deferred", NOW + 3)).toBe("late");
  expect(states()).toEqual(["sent"]);
});

test("a mail whose attempts always kill the server is given up after as many as any other", () => {
  waiting();
  let now = NOW;
  let attempts = 0;
  while (take(now).length > 0) {
    attempts += 1;
    now += MAIL_LEASE_MS;
  }
  expect(attempts).toBe(MAIL_STEPS_MS.length + 1);
  expect(states()).toEqual(["failed"]);
});

test("an address gets no more mails in any hour than the limit, whoever sends them, and all in the end", () => {
  waiting(25);
  const other = waiting(2);
  const sentAt = new Map<string, number[]>();
  let now = NOW;
  for (let round = 0; round < 200 && !states().every((state) => state === "sent"); round += 1) {
    const server = round % 2 === 0 ? A! : B!;
    for (const due of take(now, { server, limit: 3, perHour: 4 })) {
      sentAt.set(due.email, [...(sentAt.get(due.email) ?? []), now]);
      record(due, null, now);
    }
    now = Math.max(now + 60_000, shop.read(nextMailDueAt) ?? 0);
  }
  expect([...sentAt.values()].map(({ length }) => length)).toEqual([25, 2]);
  for (const times of sentAt.values()) {
    const inHour = times.map((at) => times.filter((each) => each >= at && each < at + HOUR).length);
    expect(Math.max(...inHour)).toBeLessThanOrEqual(4);
  }
  expect(shop.read((reader) => findMember(reader, other))!.mails).toContain("sign_in");
});

describe("a mail that waits", () => {
  test("is dropped if its member has turned the kind off, is disabled, or its portal is off", () => {
    const changes: ((id: string) => unknown)[] = [
      (id) => shop.run("updateMember", { changes: { mails: "" }, actor: actorOf(id) }),
      (id) => shop.run("setMemberActive", { id, active: false }),
      () => shop.run("setPortal", { username: "alice", changes: { active: false } }),
    ];
    const ids = changes.map(() => waiting());
    changes.forEach((change, index) => change(ids[index]!));
    expect(take(NOW)).toEqual([]);
    expect(states()).toEqual(["dropped", "dropped", "dropped"]);
  });

  test("goes to the member's new address, in its new language", () => {
    const id = waiting();
    const changes = { email: "new@x.example", language: "ru" } as const;
    shop.run("updateMember", { changes, actor: actorOf(id) });
    expect(take(NOW)).toEqual([]);
    expect(take(NOW)).toMatchObject([{ email: "new@x.example", language: "ru", attempt: 1 }]);
  });

  test("is dropped when mails are turned off, and when a backup is restored", () => {
    waiting();
    shop.run("setMailSettings", { active: false, operator: null });
    shop.run("setMailSettings", { active: true, operator: null });
    waiting();
    shop.run("carryOver", { floors: numbersBy(() => 1), endedKeys: [] });
    expect(states()).toEqual(["dropped", "dropped"]);
    expect(take(NOW)).toEqual([]);
  });
});

const actorOf = (id: string) => ({ keyId: null, operator: `member:${id}` });

test("a mail that failed or was dropped can be sent again with all its attempts, no other can", () => {
  waiting(3);
  const [failed, sent] = take(NOW, { limit: 2 }) as [DueMail, DueMail];
  record(failed, "refused", NOW);
  record(sent, null, NOW);
  const retry = (mailId: number) => shop.run("retryMail", { mailId });
  for (const { mailId, state } of all().filter((each) => each.state !== "failed")) {
    expect([state, refusalCode(() => retry(mailId))]).toEqual([state, "mail_not_failed"]);
  }
  expect(refusalCode(() => retry(99))).toBe("mail_not_found");
  retry(failed.mailId);
  expect(all().find(({ mailId }) => mailId === failed.mailId)).toMatchObject({
    state: "waiting",
    attempts: 0,
    endedAt: null,
  });
  expect(take(NOW).length).toBe(2);
});

test("mails are deleted long after they ended, those that wait never", () => {
  waiting(2);
  record(take(NOW, { limit: 1 })[0]!, null, NOW);
  const expire = (now: number) => shop.execute("expireMails", { limit: 10 }, now);
  expect(expire(NOW + MAIL_RETENTION_MS)).toBe(0);
  expect(expire(NOW + MAIL_RETENTION_MS + 1)).toBe(1);
  expect(states()).toEqual(["waiting"]);
});

test("verify finds a mail for a member of another reseller", async () => {
  waiting();
  expect(await verifyStore(shop)).toEqual([]);
  shop.query(
    `INSERT INTO mails (mail_id, id, kind, account, member, email, data, state, due_at, created_at)
     SELECT 99, 'evt_wrong0000000000000000000', kind, (SELECT account FROM users WHERE username = 'bob'), member, email, data, state, due_at, created_at FROM mails`,
  );
  const problems = await verifyStore(shop);
  expect(problems.map(({ subject }) => subject)).toEqual(["e-mail 99"]);
});
