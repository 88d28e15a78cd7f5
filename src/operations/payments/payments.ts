// Payments as members ask for them: created, begun at the method, and claimed. docs/specification/payments.md.

import { findMethod, mayUseMethod } from "../../db/payments/payment-methods.ts";
import { countOpenPayments, countPaymentEvents } from "../../db/payments/payments.ts";
import type { Reader, Tx } from "../../db/port/port.ts";
import {
  type Payment,
  paymentAttachments,
  type PaymentMethodRow,
  payments,
} from "../../db/tables/payments.ts";
import type { Actor } from "../../domain/ledger/ledger.ts";
import { amountText } from "../../domain/ledger/money.ts";
import type { AttachmentType } from "../../domain/payments/attachments.ts";
import { decimalsOf, unitMicrosOf } from "../../domain/payments/currencies.ts";
import {
  type PaymentQuote,
  quotePayment,
  writeTerms,
} from "../../domain/payments/payment-amounts.ts";
import { termsOf } from "../../domain/payments/payment-methods.ts";
import { nextReadAt } from "../../domain/payments/payment-reads.ts";
import { Refusal, refusal } from "../../domain/values/error-table.ts";
import type { Context } from "../batch/context.ts";
import { requireMember } from "../members/acting.ts";
import {
  changePayment,
  noteEvent,
  refuseClosed,
  requirePayment,
  SERVER,
} from "./payment-changes.ts";

/** Limit for the open payments of a reseller. */
export const OPEN_PAYMENTS_LIMIT = 20;

export interface CreatePayment {
  methodId: string;
  /** In millionths of the method's currency: what is credited, without fee and bonus. */
  amountMicros: number;
  /** The token of the form. The same form sent again is the same payment. */
  requestKey: string;
  /** The member. */
  actor: Actor;
}

/**
 * Creates a payment for the member's reseller. It is committed before the method is called. Refuses what requireMember
 * and quoteMethod refuse, payments_open_limit.
 */
export function createPayment(tx: Tx, command: CreatePayment, context: Context): { id: string } {
  const { methodId, amountMicros, requestKey, actor } = command;
  if (actor.isTest) throw refusal("member_not_allowed");
  const member = requireMember(tx, actor, "order");
  const { account } = member;
  const known = tx.row(payments.byRequest, account, requestKey);
  if (known) return { id: known.id };
  const { method, quote } = quoteMethod(tx, { account, methodId, amountMicros });
  if (countOpenPayments(tx, account) >= OPEN_PAYMENTS_LIMIT) {
    throw new Refusal("payments_open_limit", { limit: OPEN_PAYMENTS_LIMIT });
  }
  // Nothing is refused from here on.
  const { now } = context;
  const times = { createdAt: now, changedAt: now, paidAt: null, expiresAt: null };
  const state = { state: "created" as const, ...times, methodReference: null };
  const payment = tx.insert(payments, {
    ...state,
    id: context.createId(),
    account,
    methodId,
    memberId: member.id,
    requestKey,
    askedMicros: amountMicros,
    ...quote,
    currency: method.currency,
    terms: writeTerms(termsOf(method)),
    nextReadAt: nextReadAt(state, false, now),
  });
  noteEvent(tx, payment, "created", { actor }, context);
  return { id: payment.id };
}

/**
 * Returns what a payment by a method costs and credits, without changing anything. Refuses: payment_method_not_found,
 * payment_amount_decimals, payment_amount_out_of_range.
 */
export function quoteMethod(
  reader: Reader,
  { account, methodId, amountMicros }: { account: number; methodId: string; amountMicros: number },
): { method: PaymentMethodRow; quote: PaymentQuote } {
  const method = findMethod(reader, methodId);
  if (!method || !mayUseMethod(reader, method, account)) throw refusal("payment_method_not_found");
  const { currency, minMicros, maxMicros } = method;
  if (amountMicros % unitMicrosOf(currency) !== 0) {
    throw new Refusal("payment_amount_decimals", { decimals: decimalsOf(currency) });
  }
  if (amountMicros < minMicros || amountMicros > maxMicros) {
    const [least, most] = [minMicros, maxMicros].map((each) => amountText(each, currency));
    throw new Refusal("payment_amount_out_of_range", { least: least!, most: most! });
  }
  return { method, quote: quotePayment(termsOf(method), amountMicros) };
}

export interface RecordBegun {
  id: string;
  /** Whether the method can be asked about the payment. */
  isReadable: boolean;
  result:
    | { outcome: "begun"; reference: string | null; url: string | null; expiresAt: number | null }
    | { outcome: "refused"; cause: string };
}

/**
 * Records what the method answered to the call that begins a payment. A repeated call gets the same answer, because the
 * method makes only one page for each payment. Refuses: payment_not_found.
 */
export function recordBegun(
  tx: Tx,
  { id, isReadable, result }: RecordBegun,
  context: Context,
): { state: Payment["state"] } {
  const payment = requirePayment(tx, id);
  if (result.outcome === "refused") {
    const { cause } = result;
    const isNew = payment.state === "created";
    const fields = isNew ? { cause, nextReadAt: null } : {};
    const event = "begin_refused" as const;
    return changePayment(tx, payment, { event, actor: SERVER, fields }, context);
  }
  const { reference: methodReference, url, expiresAt } = result;
  const known = methodReference ?? payment.methodReference;
  const isOpen = ["created", "pending", "failed", "expired"].includes(payment.state);
  const begun = { state: "pending" as const, methodReference: known, expiresAt };
  const times = { createdAt: payment.createdAt, changedAt: context.now, paidAt: null };
  const nextAt = nextReadAt({ ...begun, ...times }, isReadable, context.now);
  const fields = isOpen
    ? { methodReference: known, url, expiresAt, nextReadAt: nextAt }
    : { methodReference: known };
  return changePayment(tx, payment, { event: "begun", actor: SERVER, fields }, context);
}

/** Limit for the recorded claims of a payment. Later ones still replace what was claimed. */
const CLAIM_EVENTS_LIMIT = 20;

export interface ClaimPayment {
  id: string;
  /** What the customer says about what it paid. */
  reference: string;
  file: { type: AttachmentType; bytes: number; sha256: string; data: string } | null;
  /** Whether the method of the payment takes claims. */
  isClaimed: boolean;
  actor: Actor;
}

/**
 * Records that the customer says it has paid. The operator is to decide. A later claim replaces an earlier one. Refuses
 * what requireMember refuses, payment_not_found, payment_not_claimable, payment_closed.
 */
export function claimPayment(tx: Tx, command: ClaimPayment, context: Context): null {
  const { reference, file, actor } = command;
  const member = requireMember(tx, actor, "order");
  const payment = requirePayment(tx, command.id);
  if (payment.account !== member.account) throw refusal("payment_not_found");
  if (!command.isClaimed) throw refusal("payment_not_claimable");
  refuseClosed(payment, "claimed");
  const earlier = file && tx.row(paymentAttachments.byKey, payment.paymentId);
  const isAgain =
    payment.awaits !== null &&
    countPaymentEvents(tx, payment.paymentId, "claimed") < CLAIM_EVENTS_LIMIT;
  // Nothing is refused from here on.
  if (file) {
    const { paymentId, account } = payment;
    const content = { ...file, createdAt: context.now };
    if (earlier) tx.update(paymentAttachments, earlier, content);
    else tx.insert(paymentAttachments, { paymentId, account, ...content });
  }
  const fields = { customerReference: reference, nextReadAt: null };
  const awaits = payment.awaits ?? ("claim" as const);
  const after = changePayment(tx, payment, { event: "claimed", actor, fields, awaits }, context);
  // A repeated claim changes no state, so only its event is recorded, up to a limit, without a mail to the operator.
  if (isAgain) noteEvent(tx, after, "claimed", { actor }, context);
  return null;
}
