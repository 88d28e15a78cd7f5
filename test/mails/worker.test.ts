// The worker over a real outbox, sending to a mail server of this machine: there are as many mails as events, whatever
// fails in between.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { findInvitedMember } from "../../src/db/members/members.ts";
import { listMails } from "../../src/db/mails/mails.ts";
import { systemClock } from "../../src/scheduling/clock.ts";
import type { Ticker } from "../../src/scheduling/ticker.ts";
import { MAILS_LIMIT, type MailDeps, startMails } from "../../src/mails/worker.ts";
import { hashSecret } from "../../src/web/sessions/session-cookie.ts";
import {
  type MailServerPeer,
  startMailServer,
  type Verdict,
} from "../support/peers/mail-server.ts";
import { until } from "../support/until.ts";
import { mailDeps } from "../support/worlds/mailing.ts";
import { openShop, type Shop } from "../support/worlds/shop.ts";

const HOUR = 3_600_000;
const NEVER_MS = 600_000;

let shop: Shop;
let server: MailServerPeer;
let verdict: (to: string, before: number) => Verdict = () => null;
const tickers: Ticker[] = [];
beforeEach(async () => {
  shop = openShop();
  shop.run("setMailSettings", { active: true, operator: null });
  verdict = () => null;
  server = await startMailServer({ judge: (to, before) => verdict(to, before) });
});
afterEach(async () => {
  for (const ticker of tickers.splice(0)) ticker.stop();
  await server.close();
  shop.close();
});

/** A clock that tests set forward. */
function handClock() {
  let ahead = 0;
  const clock = { ...systemClock, now: () => Date.now() + ahead };
  return { clock, advance: (milliseconds: number) => void (ahead += milliseconds) };
}

function depsOf(given: Partial<MailDeps> = {}): MailDeps {
  const deps = mailDeps(shop, server, given);
  tickers.push(deps.ticker);
  return deps;
}

/** Sends to the mail server of the test. */
const there: MailDeps["send"] = (mail, stop) => depsOf().send(mail, stop);

let made = 0;
function member(email = `m${(made += 1)}@x.example`): string {
  const invitationHash = email.padStart(64, "0");
  const invitation = { email, name: null, role: "owner", language: "en", invitationHash } as const;
  const id = shop.run("inviteMember", { username: "alice", ...invitation });
  shop.run("acceptInvitation", { site: "portal", invitationHash, passwordHash: "p" });
  signIn(id, "10.0.0.0/24");
  return id;
}

/** Each from a network of its own queues a mail. */
function signIn(person: string, network: string): void {
  const id = `${person}-${network}`;
  const session = { id, hash: "0".repeat(64), address: "10.1.2.3", userAgent: "Firefox" };
  const opened = { site: "portal", attempt: null, person, passwordHash: "p", session, network };
  shop.run("openSession", opened as never);
}

const all = () => shop.read((reader) => listMails(reader, 100, false));
const count = (state: string) => all().filter((mail) => mail.state === state).length;

test("each event is one mail, sent with a few connections at a time", async () => {
  const ids = Array.from({ length: 10 }, () => member());
  for (const id of ids) for (let each = 0; each < 3; each += 1) signIn(id, `10.1.${each}.0/24`);
  const outcomes: string[] = [];
  const service = startMails(depsOf({ onAttempt: (outcome) => outcomes.push(outcome) }));
  await until(() => count("sent") === 30);
  await service.stop(NEVER_MS);
  expect(server.received.length).toBe(30);
  expect(new Set(server.received.map(({ mail }) => mail.messageId)).size).toBe(30);
  expect(outcomes).toEqual(Array.from({ length: 30 }, () => "sent"));
  expect(server.mostOpen()).toBeLessThanOrEqual(MAILS_LIMIT);
});

test("a mail that is greylisted arrives later, one that is refused fails, and others are sent meanwhile", async () => {
  const [grey, bad, good] = [
    member("grey@x.example"),
    member("bad@x.example"),
    member("good@x.example"),
  ];
  for (const id of [grey, bad, good]) signIn(id, "10.1.2.0/24");
  verdict = (to, before) => {
    if (to === "bad@x.example") return { at: "RCPT", code: 550 };
    return to === "grey@x.example" && before < 2 ? { at: "RCPT", code: 451 } : null;
  };
  const { clock, advance } = handClock();
  const service = startMails(depsOf({ clock }));
  await until(() => count("sent") === 1 && count("failed") === 1 && count("waiting") === 1);
  expect(server.received.map(({ to }) => to)).toEqual(["good@x.example"]);
  for (const attempts of [2, 3]) {
    advance(HOUR);
    await until(() => all().some((mail) => mail.attempts === attempts && mail.state !== "sending"));
  }
  await service.stop(NEVER_MS);
  expect(server.received.map(({ to }) => to)).toEqual(["good@x.example", "grey@x.example"]);
  expect(all().find(({ state }) => state === "failed")).toMatchObject({
    email: "bad@x.example",
    error: "refused",
    reply: expect.stringMatching(/^550/),
  });
});

test("while the mail server is away one mail tries it after each pause, and then all arrive", async () => {
  const id = member();
  for (let each = 0; each < 20; each += 1) signIn(id, `10.1.${each}.0/24`);
  let isAway = true;
  let tries = 0;
  const send: MailDeps["send"] = (mail, stop) => {
    tries += 1;
    return isAway ? Promise.resolve({ error: "connection", reply: null }) : there(mail, stop);
  };
  const { clock, advance } = handClock();
  const service = startMails(depsOf({ clock, send }));
  await until(() => tries === MAILS_LIMIT);
  for (const tried of [5, 6]) {
    advance(300_000);
    await until(() => tries === tried && count("sending") === 0);
  }
  isAway = false;
  advance(HOUR);
  await until(() => count("sent") === 20);
  await service.stop(NEVER_MS);
  expect(server.received.length).toBe(20);
});

test.each([false, true])(
  "after the clock was set back mails are sent at once; the mail server was away: %p",
  async (wasAway) => {
    const id = member();
    let isAway = wasAway;
    const send: MailDeps["send"] = (mail, stop) =>
      isAway ? Promise.resolve({ error: "connection", reply: null }) : there(mail, stop);
    const { clock, advance } = handClock();
    advance(HOUR);
    const service = startMails(depsOf({ clock, send }));
    signIn(id, "10.1.1.0/24");
    await until(() => all().some(({ state, error }) => state === "sent" || error !== null));
    advance(-HOUR);
    isAway = false;
    const schedules = { pollIntervalMs: 1, submitBackoffLimitMs: 1 };
    shop.execute("clampSchedules", schedules, clock.now());
    signIn(id, "10.1.2.0/24");
    await until(() => count("sent") >= 1 && all()[0]!.state === "sent");
    await service.stop(NEVER_MS);
  },
);

test.each([
  [8, 1],
  [7, 0],
])(
  "after %i failures of the mail server in a row the mails that waited for it are due %i times",
  async (failures, resumed) => {
    const id = member();
    for (let each = 0; each <= failures; each += 1) signIn(id, `10.1.${each}.0/24`);
    let tries = 0;
    const send: MailDeps["send"] = (mail, stop) => {
      tries += 1;
      return tries > failures
        ? there(mail, stop)
        : Promise.resolve({ error: "account", reply: null });
    };
    const { clock, advance } = handClock();
    const deps = depsOf({ clock, send });
    const commands: string[] = [];
    const submit: MailDeps["writer"]["submit"] = (name, input) => {
      commands.push(name);
      return deps.writer.submit(name, input);
    };
    const service = startMails({ ...deps, writer: { submit } });
    await until(() => {
      // No attempt outlasts its lease.
      if (count("sending") === 0) advance(300_000);
      return count("sent") === failures + 1;
    });
    await service.stop(NEVER_MS);
    expect(commands.filter((name) => name === "resumeMails").length).toBe(resumed);
  },
);

test("a mail whose server was killed after sending arrives once more, with the same id and the same text", async () => {
  const id = member();
  signIn(id, "10.1.2.0/24");
  const killed = depsOf();
  // It sends, but never records.
  const submit: MailDeps["writer"]["submit"] = (name, input) =>
    name === "recordMailAttempts" ? new Promise(() => {}) : killed.writer.submit(name, input);
  void startMails({ ...killed, writer: { submit } });
  await until(() => server.received.length === 1);
  expect(count("sending")).toBe(1);
  const service = startMails(depsOf({ serverId: "server-b" }));
  await until(() => count("sent") === 1);
  await service.stop(NEVER_MS);
  const [first, second] = server.received;
  expect(server.received.length).toBe(2);
  expect(second!.mail.messageId).toBe(first!.mail.messageId);
  expect(second!.mail.text).toBe(first!.mail.text);
});

test("two servers send every mail once", async () => {
  const ids = Array.from({ length: 8 }, () => member());
  for (const id of ids) for (let each = 0; each < 3; each += 1) signIn(id, `10.1.${each}.0/24`);
  const services = ["server-a", "server-b"].map((serverId) => startMails(depsOf({ serverId })));
  await until(() => count("sent") === 24);
  for (const service of services) await service.stop(NEVER_MS);
  expect(server.received.length).toBe(24);
});

test("a stop waits for mails in flight and records them", async () => {
  const id = member();
  signIn(id, "10.1.2.0/24");
  const gate = Promise.withResolvers<void>();
  let isSending = false;
  const service = startMails(
    depsOf({
      async send(mail, stop) {
        isSending = true;
        await gate.promise;
        return there(mail, stop);
      },
    }),
  );
  await until(() => isSending);
  const stopped = service.stop(NEVER_MS);
  gate.resolve();
  await stopped;
  expect([server.received.length, count("sent")]).toEqual([1, 1]);
});

describe("a link to choose a password", () => {
  const linkIn = (index: number) =>
    /https:\/\/shop\.example\/portal\/set-up#([\w-]+)/.exec(
      server.received[index]!.mail.text!,
    )![1]!;
  const invited = (token: string) =>
    shop.read((reader) => findInvitedMember(reader, hashSecret(token)))?.email;

  test("is made when the mail is sent: the database holds only its hash", async () => {
    shop.run("inviteMember", { username: "alice", ...BY_MAIL });
    expect(all()[0]!.data).toBe("{}");
    const service = startMails(depsOf());
    await until(() => count("sent") === 1);
    await service.stop(NEVER_MS);
    const token = linkIn(0);
    expect(invited(token)).toBe("new@x.example");
    expect(shop.dump()).not.toContain(token);
  });

  test("stays the same when the mail is tried again by the same server", async () => {
    shop.run("inviteMember", { username: "alice", ...BY_MAIL });
    const links: string[] = [];
    const { clock, advance } = handClock();
    const service = startMails(
      depsOf({
        clock,
        send(mail, stop) {
          links.push(/set-up#([\w-]+)/.exec(mail.text)![1]!);
          if (links.length > 2) return there(mail, stop);
          return Promise.resolve({ error: "deferred", reply: null });
        },
      }),
    );
    for (const tries of [1, 2]) {
      await until(() => links.length === tries && count("waiting") === 1);
      advance(HOUR);
    }
    await until(() => count("sent") === 1);
    await service.stop(NEVER_MS);
    expect(new Set(links).size).toBe(1);
    expect(invited(linkIn(0))).toBe("new@x.example");
  });
});

const BY_MAIL = {
  email: "new@x.example",
  name: null,
  role: "owner",
  language: "en",
  invitationHash: null,
} as const;
