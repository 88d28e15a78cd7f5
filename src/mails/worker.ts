// Sends e-mails: takes due ones from the outbox in the database, sends them and records the results. While the mail server
// cannot be used, one mail at a time tries it, after pauses.

import type { ReadStore } from "../db/port/port.ts";
import { listInterruptedMails, nextMailDueAt } from "../db/mails/mails.ts";
import { outageAfter, outagePauseMs } from "../domain/mails/mail-schedule.ts";
import type { MailOutcome } from "../domain/mails/mails.ts";
import { createAttempts } from "../scheduling/attempts.ts";
import type { Random } from "../scheduling/backoff.ts";
import type { Clock } from "../scheduling/clock.ts";
import { type Outbox, startOutbox } from "../scheduling/outbox.ts";
import type { Recording } from "../scheduling/recording.ts";
import type { Ticker } from "../scheduling/ticker.ts";
import type { Logger } from "../monitoring/log.ts";
import type { DueMail, FinishedMailAttempt } from "../operations/mails/mail-deliveries.ts";
import type { Writer } from "../writer/writer.ts";
import type { MailSite } from "./content.ts";
import { createLinkTokens, type LinkTokens } from "./link-tokens.ts";
import { messageOf } from "./message.tsx";
import type { MailReply, SendMail } from "./smtp.ts";

/** Limit for the mails of this server in flight, each with a connection of its own. */
export const MAILS_LIMIT = 4;
/**
 * Shortest time between two takes: 16 mails a second at most. A mail costs some milliseconds of the thread that answers
 * requests, so a full queue would slow down orders.
 */
const PACE_MS = 250;

/**
 * Number of failures in a row from which an outage is long: some ten minutes. Fewer may be about single mails, which must
 * not be tried again each time that another succeeds.
 */
const LONG_OUTAGE = 8;

export interface MailDeps {
  store: ReadStore;
  writer: Pick<Writer, "submit">;
  /** The id of this start of the server, stored with its mails in flight. */
  serverId: string;
  clock: Clock;
  random: Random;
  log: Pick<Logger, "info" | "warn" | "error">;
  ticker: Pick<Ticker, "add" | "wake">;
  send: SendMail;
  site: MailSite;
  /** The domain of the address that mails come from. */
  domain: string;
  perHour: number;
  /** Absent: PACE_MS. */
  paceMs?: number;
  /** Called after each attempt. */
  onAttempt?: (outcome: MailOutcome) => void;
}

export function startMails(deps: MailDeps): Outbox {
  const { store, writer, clock, log, serverId: server, ticker, perHour, paceMs = PACE_MS } = deps;
  const links = createLinkTokens();
  const tokens = new Map<number, string>();
  const outage = watchOutage(deps, () => void resume(deps));
  let takeAt = 0;
  return startOutbox<DueMail, FinishedMailAttempt>({
    what: "e-mails",
    limit: MAILS_LIMIT,
    attempts: (stop, onEnded) =>
      createAttempts(async (due) => {
        const token = tokens.get(due.mailId) ?? null;
        tokens.delete(due.mailId);
        const { error, reply } = await sendOnce(deps, due, token, stop);
        if (error === "stopped") return null;
        deps.onAttempt?.(error ?? "sent");
        outage.note(error, reply);
        return { mailId: due.mailId, attempt: due.attempt, error, reply };
      }, onEnded),
    async take(free) {
      const now = clock.now();
      const limit = outage.limit(free, MAILS_LIMIT);
      if (limit === 0 || now < notBeyond(takeAt, now, paceMs)) return [];
      takeAt = now + paceMs;
      const input = { server, limit, perHour, ...links.offer(limit) };
      const taken = await writer.submit("takeDueMails", input);
      for (const [mailId, token] of links.use(taken)) tokens.set(mailId, token);
      return taken;
    },
    recording: recordingOf(deps, links),
    async hasInterrupted() {
      return (await store.read((reader) => listInterruptedMails(reader, server))).length > 0;
    },
    release: () => writer.submit("releaseMails", { server }),
    async nextDueAt() {
      const dueAt = await store.read(nextMailDueAt);
      if (dueAt === null) return null;
      return Math.max(dueAt, outage.until(), notBeyond(takeAt, clock.now(), paceMs));
    },
    clock,
    log,
    ticker,
  });
}

/** Has the mails sent now that would wait for up to 8 hours, because they were tried in a long outage. */
async function resume({ writer, ticker, log }: MailDeps): Promise<void> {
  try {
    await writer.submit("resumeMails", null);
    ticker.wake();
  } catch (error) {
    log.warn({ error: String(error) }, "e-mails that waited are sent when they are due");
  }
}

/** Returns the end of a pause of at most `most`; 0 if it is later, because the clock was set back in the pause. */
function notBeyond(end: number, now: number, most: number): number {
  return end - now > most ? 0 : end;
}

/** Sends once. An internal error counts as a failed attempt, so that the mail does not stay in flight. */
async function sendOnce(
  { send, site, domain, log }: MailDeps,
  due: DueMail,
  token: string | null,
  stop: AbortSignal,
): Promise<MailReply> {
  try {
    return await send(messageOf(due, site, domain, token), stop);
  } catch (error) {
    log.error(
      { mail: due.mailId, kind: due.kind, error: String(error) },
      "internal error in a mail",
    );
    return { error: "internal", reply: null };
  }
}

function recordingOf(
  { writer, clock, random, log }: MailDeps,
  links: LinkTokens,
): Recording<FinishedMailAttempt> {
  return {
    what: "attempts of e-mails",
    async store(ended, jitter) {
      const recorded = await writer.submit("recordMailAttempts", { attempts: ended, jitter });
      for (const { mailId, kind, result } of recorded) {
        if (result !== "waiting") links.forget(mailId);
        if (result === "failed") log.warn({ mail: mailId, kind }, "an e-mail was given up");
      }
    },
    nameOf: ({ mailId }) => ({ mail: mailId }),
    clock,
    random,
    log,
  };
}

interface Outage {
  /** Notes the result of an attempt. */
  note(error: FinishedMailAttempt["error"], reply: string | null): void;
  /** Returns how many mails may be taken now, at most `free`. `most`: the limit without an outage. */
  limit(free: number, most: number): number;
  /** Returns when the next mail may be tried; 0: now. */
  until(): number;
}

/** Watches failures of the mail server, which concern all mails. It is tried by one mail after each pause. */
function watchOutage(
  { clock, log }: Pick<MailDeps, "clock" | "log">,
  onLongEnd: () => void,
): Outage {
  let failures = 0;
  let end = 0;
  const until = () => notBeyond(end, clock.now(), outagePauseMs(failures));
  return {
    note(error, reply) {
      const before = failures;
      failures = outageAfter(failures, error);
      end = failures === 0 ? 0 : clock.now() + outagePauseMs(failures);
      if (before === 0 && failures === 1) {
        log.warn({ why: error, reply }, "the mail server cannot be used: e-mails wait");
      }
      if (before > 0 && failures === 0) {
        log.info({}, "the mail server can be used again");
        if (before >= LONG_OUTAGE) onLongEnd();
      }
    },
    limit(free, most) {
      if (failures === 0) return free;
      return clock.now() < until() || free < most ? 0 : 1;
    },
    until,
  };
}
