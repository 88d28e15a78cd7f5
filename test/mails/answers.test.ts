// Each step of the conversation with a mail server × each way in which the server can answer: what the attempt counts as,
// and what becomes of that mail and of those behind it.

import { afterEach, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { listMails, readMailFacts } from "../../src/db/mails/mails.ts";
import { MAIL_RULES } from "../../src/domain/alerts/mail-conditions.ts";
import type { MailFailure } from "../../src/domain/mails/mails.ts";
import { createMailSender } from "../../src/mails/smtp.ts";
import { MAILS_LIMIT, startMails } from "../../src/mails/worker.ts";
import { systemClock } from "../../src/scheduling/clock.ts";
import { localCertificate } from "../support/peers/mail-server.ts";
import {
  type Answer,
  type ScriptedMailServer,
  startScriptedMailServer,
  type Step,
} from "../support/peers/scripted-mail-server.ts";
import { sampleOf } from "../support/runs.ts";
import { until } from "../support/until.ts";
import { mailDeps } from "../support/worlds/mailing.ts";
import { openShop } from "../support/worlds/shop.ts";

const GARBAGE = "\u0000what? certificate";
const NEVER = new AbortController().signal;
const NEVER_MS = 600_000;
const HOUR = 3_600_000;

/** Each answer, but for the one of a working server. */
const ANSWERS = {
  "4xx": "451 4.2.0 later",
  "421": "421 4.2.0 closing",
  "5xx": "550 5.2.0 no",
  "another 2xx or 3xx": "399 really",
  closes: "close",
  "no answer": "silence",
  garbage: GARBAGE,
} as const satisfies Record<string, Answer>;
type AnswerName = keyof typeof ANSWERS;

const OF_SERVER = (failure: MailFailure) => ({
  "4xx": failure,
  "421": failure,
  "5xx": failure,
  "another 2xx or 3xx": failure,
  closes: "connection",
  "no answer": "timeout",
  garbage: failure,
}) as const; // prettier-ignore
const OF_MAIL = { "4xx": "deferred", "421": "connection", "5xx": "refused", "another 2xx or 3xx": "connection", closes: "connection", "no answer": "timeout", garbage: "connection" } as const; // prettier-ignore

const TABLE: Record<Step, Record<AnswerName, MailFailure | null>> = {
  connect: OF_SERVER("connection"),
  EHLO: OF_SERVER("connection"),
  STARTTLS: OF_SERVER("tls"),
  // Bun's client waits for more of what is no TLS.
  TLS: OF_SERVER("timeout"),
  AUTH: { ...OF_SERVER("login"), "421": "connection" },
  MAIL: { ...OF_MAIL, "4xx": "account", "5xx": "account" },
  RCPT: OF_MAIL,
  // It goes on: some servers say 250 instead of 354.
  DATA: { ...OF_MAIL, "another 2xx or 3xx": null },
  end: OF_MAIL,
};
type Cell = readonly [Step, AnswerName, MailFailure | null];
const CELLS: Cell[] = (Object.keys(TABLE) as Step[]).flatMap((step) =>
  (Object.keys(ANSWERS) as AnswerName[]).map((name) => [step, name, TABLE[step][name]] as const),
);

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function peer(script: (step: Step, to: string) => Answer): Promise<ScriptedMailServer> {
  const server = await startScriptedMailServer(script, ["STARTTLS", "AUTH PLAIN"]);
  closing.push(() => server.close());
  return server;
}

function senderTo(port: number, attemptMs: number) {
  const ca = readFileSync(localCertificate().cert, "utf8");
  return createMailSender({
    server: { isTls: false, host: "127.0.0.1", port, user: "u@x", hasPassword: true },
    password: "hunter2",
    from: { name: "Shop", address: "orders@shop.example" },
    ca,
    attemptMs,
  });
}

/** An attempt that ends by its limit costs this time; no other waits for it. */
const attemptMsOf = (failure: MailFailure | null) => (failure === "timeout" ? 400 : 60_000);

const MAIL = { messageId: "<abc@shop.example>", to: "ann@x.example", subject: "s", text: "t", html: "<p>t</p>", headers: {}, date: new Date(0) }; // prettier-ignore

describe("one attempt", () => {
  test("a server that works gets the mail, with every step", async () => {
    const server = await peer(() => null);
    expect(await senderTo(server.port, 60_000)(MAIL, NEVER)).toEqual({
      error: null,
      reply: "250 taken",
    });
    expect(Object.values(server.reached).every((count) => count > 0)).toBe(true);
    expect(server.arrived).toEqual([
      { to: MAIL.to, messageId: MAIL.messageId, link: null, isAnswered: true },
    ]);
  });

  test.each(CELLS)("%s, %s: %s", async (step, name, failure) => {
    const server = await peer((at) => (at === step ? ANSWERS[name] : null));
    const { error } = await senderTo(server.port, attemptMsOf(failure))(MAIL, NEVER);
    expect(error).toBe(failure);
    expect(server.reached[step]).toBeGreaterThan(0);
  });
});

/** Replies to RCPT TO, and to the text, that mail servers give when they take nothing from this sender or account. */
const OF_ACCOUNT = [
  "554 5.7.1 <%>: Relay access denied",
  "550 relay not permitted",
  "553 5.7.1 <orders@shop.example>: Sender address rejected: not owned by user u",
  "450 4.1.8 <orders@shop.example>: Sender address rejected: Domain not found",
  "550 5.1.8 Access denied, bad outbound sender",
  "550 5.4.5 Daily user sending limit exceeded",
  "550-5.7.26 This mail is unauthenticated | 550 5.7.26 see the guide",
  "550 5.7.60 Client does not have permissions to send as this sender",
  "554 5.2.252 SendAsDenied",
  "452 4.3.1 Insufficient system storage",
  "550 5.7.705 Access denied, tenant has exceeded threshold",
];
/** Replies that are about one recipient or one mail, although they name the same things. */
const OF_ONE = [
  "550 5.1.1 <%>: Recipient address rejected: User unknown",
  "552 5.3.4 Message too big for system",
  "550 5.7.1 Message rejected as spam",
  "550 5.2.1 mailbox disabled",
  "550 no such user here",
];
const REPLIES = [
  ...OF_ACCOUNT.map((reply) => [reply, "account"] as const),
  ...OF_ONE.map((reply) => [reply, "refused"] as const),
];

test.each(REPLIES)("%s: %s, at RCPT TO and after the text", async (reply, failure) => {
  for (const step of ["RCPT", "end"] as const) {
    const to = "relay@x.example";
    const server = await peer((at) =>
      at === step ? reply.replace("%", to).replace(" | ", "\r\n") : null,
    );
    const { error } = await senderTo(server.port, 60_000)({ ...MAIL, to }, NEVER);
    expect(error).toBe(failure);
  }
});

describe("a queue", () => {
  const MAILS = 6;
  const FIRST = "m0@x.example";

  /** A shop with invitations that wait, and a worker that sends them to a server with this script. */
  async function queue(script: (step: Step, to: string) => Answer, attemptMs: number) {
    const shop = openShop();
    closing.push(() => shop.close());
    shop.run("setMailSettings", { active: true, operator: null });
    for (let each = 0; each < MAILS; each += 1) {
      const member = {
        email: `m${each}@x.example`,
        name: null,
        role: "owner",
        language: "en",
      } as const;
      shop.run("inviteMember", { username: "alice", ...member, invitationHash: null });
    }
    const server = await peer(script);
    let ahead = 0;
    const clock = { ...systemClock, now: () => Date.now() + ahead };
    const deps = mailDeps(shop, server, { clock, send: senderTo(server.port, attemptMs) });
    closing.push(() => deps.ticker.stop());
    const service = startMails(deps);
    closing.push(() => service.stop(NEVER_MS));
    const all = () => shop.read((reader) => listMails(reader, 100, false));
    const count = (state: string) => all().filter((mail) => mail.state === state).length;
    const isStuck = () =>
      MAIL_RULES.mail_stuck!.holds(
        shop.read((reader) => readMailFacts(reader, clock.now())),
        clock.now(),
      );
    return {
      server,
      all,
      count,
      isStuck,
      advance: (by: number): void => {
        ahead += by;
        deps.ticker.wake();
      },
    };
  }

  const FAILING = CELLS.filter(([, , failure]) => failure !== null);

  test.each(sampleOf(FAILING, 7))(
    "meets %s, %s (%s): only a mail that is refused itself is given up, all others arrive once it ends",
    async (step, name, failure) => {
      // What is about one mail strikes one.
      const isOne = step === "RCPT" || step === "DATA" || step === "end";
      let isBroken = true;
      const { server, all, count, isStuck, advance } = await queue(
        (at, to) => (isBroken && at === step && (!isOne || to === FIRST) ? ANSWERS[name] : null),
        attemptMsOf(failure),
      );
      if (isOne)
        await until(() => all().some(({ email, error }) => email === FIRST && error === failure));
      else {
        // As many as were on their way, and then none until the pause is over.
        await until(() => all().filter(({ error }) => error === failure).length === MAILS_LIMIT);
        expect([count("waiting"), count("failed")]).toEqual([MAILS, 0]);
        expect(isStuck()).toBe(false);
        advance(HOUR);
        await until(() => all().filter(({ attempts }) => attempts > 0).length > MAILS_LIMIT);
        expect(isStuck()).toBe(true);
      }
      isBroken = false;
      const failed = failure === "refused" ? 1 : 0;
      await until(() => {
        // No attempt outlasts its lease.
        if (count("sending") === 0) advance(HOUR);
        return count("sent") + count("failed") === MAILS && count("failed") === failed;
      });
      expect(isStuck()).toBe(false);
      // A mail whose answer was lost may have come twice: it has the same id.
      const answered = server.arrived.filter(({ isAnswered }) => isAnswered);
      expect(answered.length).toBe(MAILS - failed);
      expect(new Set(answered.map(({ to }) => to)).size).toBe(MAILS - failed);
      const ids = new Set(server.arrived.map(({ to, messageId }) => `${to} ${messageId}`));
      expect(ids.size).toBe(step === "end" || failed === 0 ? MAILS : MAILS - 1);
      const twice = server.arrived.length - ids.size;
      expect(twice).toBe(step === "end" && failed === 0 ? 1 : 0);
    },
  );
});
