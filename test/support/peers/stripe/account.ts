// The objects of one Stripe account, and what its customers, their banks and the operator do to them. Everything that
// happens emits the events that Stripe's documentation names: https://docs.stripe.com/api/events/types.

import type { Stripe } from "stripe";
import { invalid, missing } from "./errors.ts";
import * as objects from "./objects.ts";

type Session = Stripe.Checkout.Session;

/** Called with each event's type and the object at that moment. */
type Emit = (type: string, object: object) => void;

export type Account = ReturnType<typeof createAccount>;

export function createAccount(emit: Emit, now: () => number, livemode: boolean) {
  const sessions = new Map<string, Session>();
  const intents = new Map<string, Stripe.PaymentIntent>();
  const charges = new Map<string, Stripe.Charge>();
  const refunds = new Map<string, Stripe.Refund>();
  const disputes = new Map<string, Stripe.Dispute>();
  const intentMetadata = new Map<string, Record<string, string>>();

  /** Returns a session; ends it first if its time is over. */
  function session(id: string, param = "session"): Session {
    const found = sessions.get(id);
    if (!found) throw missing("checkout.session", id, param);
    if (found.status === "open" && found.expires_at <= now()) end(found);
    return found;
  }

  function end(ended: Session): void {
    ended.status = "expired";
    ended.url = null;
    emit("checkout.session.expired", ended);
  }

  function openSession(id: string): Session {
    const found = session(id);
    if (found.status !== "open")
      throw invalid("parameter_unknown", "This Checkout Session is no longer active.", "session");
    return found;
  }

  const intentOf = ({ payment_intent }: { payment_intent: unknown }) =>
    intents.get(payment_intent as string)!;
  const chargeOf = (sessionId: string) =>
    charges.get(intentOf(session(sessionId)).latest_charge as string)!;

  function begin(
    paid: Session,
    type: "card" | "sepa_debit",
    status: "succeeded" | "pending" | "failed",
  ) {
    let intent = paid.payment_intent === null ? undefined : intentOf(paid);
    if (!intent) {
      intent = objects.newIntent(paid, intentMetadata.get(paid.id) ?? {}, now());
      intents.set(intent.id, intent);
      paid.payment_intent = intent.id;
      emit("payment_intent.created", intent);
    }
    const charge = objects.newCharge(intent, type, status, now());
    charges.set(charge.id, charge);
    intent.latest_charge = charge.id;
    intent.payment_method = charge.payment_method;
    return { intent, charge };
  }

  function complete(paid: Session, status: Session["payment_status"]): void {
    paid.status = "complete";
    paid.payment_status = status;
    paid.url = null;
    emit("checkout.session.completed", paid);
  }

  return {
    livemode,
    sessions,
    intents,
    charges,
    refunds,
    disputes,
    session,
    chargeOf,
    intentOfSession: (id: string) => intentOf(session(id)),

    create(given: objects.NewSession, origin: string): Session {
      const created = objects.newSession(given, now(), livemode, origin);
      sessions.set(created.id, created);
      intentMetadata.set(created.id, given.intentMetadata);
      return created;
    },

    expire(id: string): Session {
      const found = session(id);
      if (found.status !== "open") {
        const message = `Only Checkout Sessions with a status in ["open"] can be expired. This Checkout Session has a status of ${found.status}`;
        throw invalid("checkout_session_not_open", message);
      }
      end(found);
      return found;
    },

    /** The customer pays by a card, which succeeds at once or is declined. */
    payByCard(id: string, isDeclined = false): void {
      const paid = openSession(id);
      if (isDeclined) {
        const { intent, charge } = begin(paid, "card", "failed");
        emit("charge.failed", charge);
        emit("payment_intent.payment_failed", intent);
        return;
      }
      const { intent, charge } = begin(paid, "card", "succeeded");
      Object.assign(intent, { status: "succeeded", amount_received: intent.amount });
      emit("charge.succeeded", charge);
      emit("payment_intent.succeeded", intent);
      complete(paid, "paid");
    },

    /** The customer pays by a method that reports its success days later. */
    payByBank(id: string): void {
      const paid = openSession(id);
      const { intent, charge } = begin(paid, "sepa_debit", "pending");
      intent.status = "processing";
      emit("charge.pending", charge);
      emit("payment_intent.processing", intent);
      complete(paid, "unpaid");
    },

    /** The bank reports how a payment of payByBank ended. */
    settle(id: string, isSuccess: boolean): void {
      const paid = session(id);
      const [intent, charge] = [intentOf(paid), chargeOf(id)];
      if (isSuccess) {
        Object.assign(charge, { status: "succeeded", paid: true });
        Object.assign(intent, { status: "succeeded", amount_received: intent.amount });
        paid.payment_status = "paid";
        emit("charge.succeeded", charge);
        emit("payment_intent.succeeded", intent);
        emit("checkout.session.async_payment_succeeded", paid);
      } else {
        Object.assign(charge, {
          status: "failed",
          paid: false,
          captured: false,
          amount_captured: 0,
        });
        intent.status = "requires_payment_method";
        emit("charge.failed", charge);
        emit("payment_intent.payment_failed", intent);
        emit("checkout.session.async_payment_failed", paid);
      }
    },

    /** A discount of the operator's dashboard made the total zero. */
    completeFree(id: string): void {
      const paid = openSession(id);
      paid.total_details!.amount_discount = paid.amount_total!;
      paid.amount_total = 0;
      complete(paid, "no_payment_required");
    },

    /** The operator refunds in Stripe's dashboard. `status`: of the refund at first. */
    refund(
      sessionId: string,
      amount?: number,
      status: "succeeded" | "pending" | "requires_action" = "succeeded",
    ): Stripe.Refund {
      const charge = chargeOf(sessionId);
      const left = charge.amount - charge.amount_refunded;
      const refunded = amount ?? left;
      if (left === 0)
        throw invalid("charge_already_refunded", `Charge ${charge.id} has already been refunded.`);
      if (refunded > left)
        throw invalid(
          "amount_too_large",
          `Refund amount (${refunded}) is greater than unrefunded amount on charge (${left})`,
          "amount",
        );
      const refund = objects.newRefund(charge, refunded, status, now());
      refunds.set(refund.id, refund);
      charge.amount_refunded += refunded;
      charge.refunded = charge.amount_refunded === charge.amount;
      emit("refund.created", refund);
      emit("charge.refunded", charge);
      return refund;
    },

    /** A refund that was pending, or seemed to succeed, ends. A failed one returns the money to the operator. */
    endRefund(id: string, status: "succeeded" | "failed" | "canceled"): void {
      const refund = refunds.get(id)!;
      refund.status = status;
      if (status !== "succeeded") {
        const charge = charges.get(refund.charge as string)!;
        charge.amount_refunded -= refund.amount;
        charge.refunded = false;
      }
      if (status === "failed") {
        refund.failure_reason = "lost_or_stolen_card";
        emit("refund.failed", refund);
      }
      emit("refund.updated", refund);
      emit("charge.refund.updated", refund);
    },

    /** The customer's bank disputes the charge, or inquires first. */
    dispute(
      sessionId: string,
      { amount, isInquiry = false }: { amount?: number; isInquiry?: boolean } = {},
    ): Stripe.Dispute {
      const charge = chargeOf(sessionId);
      const dispute = objects.newDispute(charge, amount ?? charge.amount, isInquiry, now());
      disputes.set(dispute.id, dispute);
      charge.disputed = true;
      emit("charge.dispute.created", dispute);
      if (!isInquiry) emit("charge.dispute.funds_withdrawn", dispute);
      return dispute;
    },

    /** An inquiry becomes a dispute. */
    escalate(id: string): void {
      const dispute = disputes.get(id)!;
      Object.assign(dispute, { status: "needs_response", is_charge_refundable: false });
      emit("charge.dispute.updated", dispute);
      emit("charge.dispute.funds_withdrawn", dispute);
    },

    /** The operator's evidence was sent to the bank. */
    submitEvidence(id: string): void {
      const dispute = disputes.get(id)!;
      dispute.status = "under_review";
      emit("charge.dispute.updated", dispute);
    },

    decide(id: string, status: "won" | "lost" | "warning_closed"): void {
      const dispute = disputes.get(id)!;
      dispute.status = status;
      if (status === "won") emit("charge.dispute.funds_reinstated", dispute);
      emit("charge.dispute.closed", dispute);
    },
  };
}
