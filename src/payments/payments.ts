// Calls payment methods: begins payments, takes notices, and reads payments from time to time. What comes of a call is
// recorded by a command, so that a crash between the two loses nothing and doubles nothing.
// docs/specification/payments.md#payment-truths.

import { findMember } from "../db/members/members.ts";
import { findMethod } from "../db/payments/payment-methods.ts";
import { findPayment } from "../db/payments/payments.ts";
import type { ReadStore } from "../db/port/port.ts";
import type { Language } from "../domain/members/languages.ts";
import { METHOD_ID } from "../domain/payments/payment-methods.ts";
import { refusal } from "../domain/values/error-table.ts";
import type { Logger } from "../monitoring/log.ts";
import type { DuePayment } from "../operations/payments/payment-reports.ts";
import { oneAtATime } from "../scheduling/one-at-a-time.ts";
import type { Tick, Ticker } from "../scheduling/ticker.ts";
import type { Writer } from "../writer/writer.ts";
import type { BeginResult, MethodApi, MethodDeps, Notice } from "./method.ts";
import { connectMethod, kindOf, READABLE_KINDS, type StoredMethod } from "./methods.ts";

const CHECK_MS = 10_000;
/** Payments that are taken at once, and read one after another. */
const TAKEN_AT_ONCE = 20;

export interface PaymentDeps extends MethodDeps {
  store: ReadStore;
  writer: Pick<Writer, "submit">;
  log: Pick<Logger, "info" | "warn" | "error">;
  /** Makes a method ready to be called; by default as its kind says. */
  connect?: (method: StoredMethod) => Promise<MethodApi>;
  /** Called with each result of a call or a notice, for the metrics. */
  onOutcome?: (what: "begin" | "read" | "notice", outcome: string) => void;
}

/** What the page knows that the payment does not. */
export interface BeginPage {
  /** The page of the payment in the portal. */
  returnUrl: string;
  description: string;
  language: Language;
}

/**
 * What came of a notice. `recorded`: also if it was before. `ignored`: genuine, but about no payment. `absent`: no such
 * method. `unknown`: genuine, but no such payment. `unavailable`: send it again.
 */
export type NoticeOutcome =
  "recorded" | "ignored" | "refused" | "wrong" | "absent" | "unknown" | "conflict" | "unavailable";

export interface Payments {
  /** Begins a payment, or begins it again after an unknown outcome. Rejects with Refusal if it does not exist. */
  begin(id: string, page: BeginPage): Promise<BeginResult>;
  /** Takes a notice for a method of a kind. */
  receive(kind: string, methodId: string, notice: Notice): Promise<NoticeOutcome>;
  /** Reads what is due now. Returns how many payments were looked at. */
  readDue(): Promise<number>;
  /** Aborts the calls in flight and waits for them. */
  stop(): Promise<void>;
}

export function createPayments(deps: PaymentDeps): Payments {
  const { store, writer, log, onOutcome = () => {} } = deps;
  const { connect = (method: StoredMethod) => connectMethod(method, deps) } = deps;
  const stop = new AbortController();
  const running = new Set<Promise<unknown>>();
  const tracked = <T>(call: Promise<T>): Promise<T> => {
    running.add(call);
    const end = () => void running.delete(call);
    call.then(end, end);
    return call;
  };

  const begin = async (id: string, page: BeginPage): Promise<BeginResult> => {
    const found = await store.read((reader) => {
      const payment = findPayment(reader, id);
      const method = payment && findMethod(reader, payment.methodId);
      const member = payment?.memberId ? findMember(reader, payment.memberId) : undefined;
      return payment && method ? { payment, method, email: member?.email ?? null } : null;
    });
    if (!found) throw refusal("payment_not_found");
    const { payment, method, email } = found;
    const api = await connect(method);
    const { dueMicros: amountMicros, currency, createdAt } = payment;
    const asked = { id, amountMicros, currency, email, createdAt, ...page };
    const result = await api.begin(asked, stop.signal);
    onOutcome("begin", result.outcome);
    if (result.outcome !== "begun") {
      log.warn(
        { payment: id, method: method.methodId, cause: result.cause },
        "a payment was not begun",
      );
    }
    if (result.outcome === "unknown") return result;
    const { isReadable } = kindOf(method);
    await writer.submit("recordBegun", { id, isReadable, result });
    return result;
  };

  /** Reads one payment. Returns false if it is to be read again soon. */
  const read = async ({ id, reference, reads, method }: DuePayment): Promise<boolean> => {
    const api = await connect(method);
    if (!api.read) return true;
    const result = await api.read({ id, reference }, stop.signal);
    if ("failed" in result) {
      onOutcome("read", "failed");
      const cause = result.failed;
      log.warn({ payment: id, method: method.methodId, cause }, "a payment could not be read");
      return false;
    }
    const { reading } = result;
    const { outcome, state } = await writer.submit("recordReading", {
      id,
      reference,
      reads,
      reading,
    });
    onOutcome("read", outcome);
    if (outcome === "foreign") {
      log.error({ payment: id, reference }, "what was read belongs to another payment");
    } else log.info({ payment: id, read: reading.state, state }, "a payment was read");
    return true;
  };

  /** A backup that was restored does not know later payments. */
  const noteUnknown = (payment: string, method: string) =>
    log.warn({ payment, method }, "a genuine notice names no payment of this method");

  const receive = async (
    kind: string,
    methodId: string,
    notice: Notice,
  ): Promise<NoticeOutcome> => {
    // No method has such an id, and PostgreSQL refuses to look up a NUL.
    if (!("value" in METHOD_ID.read(methodId))) return "absent";
    const method = await store.read((reader) => findMethod(reader, methodId));
    if (method?.kind !== kind) return "absent";
    const api = await connect(method);
    if (!api.notice) return "absent";
    const result = await api.notice(notice);
    if ("refused" in result || "wrong" in result) {
      const cause = "refused" in result ? result.refused : result.wrong;
      log.warn({ method: methodId, cause }, "a notice of a payment was refused");
      return "refused" in result ? "refused" : "wrong";
    }
    if ("failed" in result) {
      log.warn({ method: methodId, cause: result.failed }, "a notice could not be understood yet");
      return "unavailable";
    }
    if (method.noticedAt === null) {
      await writer.submit("recordNotice", { methodId, settings: method.settings });
    }
    if (result.claim === "none") return "ignored";
    if (result.claim === "read") {
      const { paymentId: id, reference } = result;
      const due = await writer.submit("takePayment", { methodId, id, reference });
      if (due === null) {
        if (id !== null) noteUnknown(id, methodId);
        return "ignored";
      }
      return (await read(due)) ? "recorded" : "unavailable";
    }
    const { paymentId: id, programId, amountMicros, currency } = result;
    const paid = { methodId, id, programId, amountMicros, currency };
    const { outcome, state } = await writer.submit("recordPaid", paid);
    if (outcome === "unknown") {
      noteUnknown(id, methodId);
      return "unknown";
    }
    const fields = { payment: id, method: methodId, state };
    if (outcome === "conflict") log.error(fields, "a payment was reported under another id");
    else log.info(fields, "a payment was reported");
    return outcome === "conflict" ? "conflict" : "recorded";
  };

  return {
    begin: (id, page) => tracked(begin(id, page)),
    async receive(kind, methodId, notice) {
      const outcome = await tracked(receive(kind, methodId, notice));
      onOutcome("notice", outcome);
      return outcome;
    },
    async readDue() {
      const limits = { limit: TAKEN_AT_ONCE, readableKinds: READABLE_KINDS };
      const due = await writer.submit("takeDuePayments", limits);
      for (const each of due) {
        if (stop.signal.aborted) break;
        await tracked(read(each));
      }
      return due.length;
    },
    async stop() {
      stop.abort();
      await Promise.allSettled(running);
    },
  };
}

/** Reads due payments from time to time, on behalf of all servers. Returns what stops it. */
export function startPaymentReads(
  payments: Payments,
  {
    log,
    ticker,
    isLeader,
  }: Pick<PaymentDeps, "log"> & { ticker: Pick<Ticker, "add">; isLeader: () => boolean },
): { stop(): Promise<void> } {
  let lookedAt = Number.NEGATIVE_INFINITY;
  let isStopping = false;
  const reading = oneAtATime(async () => {
    try {
      while (!isStopping && (await payments.readDue()) === TAKEN_AT_ONCE);
    } catch (error) {
      log.warn({ error: String(error) }, "payments could not be read yet");
    }
  });
  const tick: Tick = (now) => {
    if (isLeader() && Math.abs(now - lookedAt) >= CHECK_MS) {
      lookedAt = now;
      void reading.run();
    }
    return Promise.resolve(null);
  };
  const endTicks = ticker.add(tick);
  return {
    async stop() {
      isStopping = true;
      endTicks();
      await payments.stop();
      await reading.idle();
    },
  };
}

/** Returns whether the customer says that a payment by this method is paid. */
export function isClaimed(method: { kind: string }): boolean {
  return kindOf(method).isClaimed;
}
