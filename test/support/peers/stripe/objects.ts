// New objects with the members that Stripe's API gives them; the package's types say which. What tests do not use is null.

import type { Stripe } from "stripe";

type Session = Stripe.Checkout.Session;

export interface NewSession {
  amount: number;
  currency: string;
  expiresAt: number | undefined;
  clientReferenceId: string | undefined;
  metadata: Record<string, string>;
  intentMetadata: Record<string, string>;
  locale: string | undefined;
  customerEmail: string | undefined;
  successUrl: string;
  cancelUrl: string | undefined;
}

/** Ids are as long as Stripe's: those of sessions have 66 characters and more. */
export function newId(prefix: string, length = 24): string {
  const letters = Array.from({ length }, () => Math.floor(Math.random() * 36).toString(36));
  return `${prefix}_${letters.join("")}`;
}

/** A session is valid for 24 hours, unless the request says otherwise. */
const DAY_S = 24 * 60 * 60;

export function newSession(
  given: NewSession,
  now: number,
  livemode: boolean,
  origin: string,
): Session {
  const id = newId(livemode ? "cs_live" : "cs_test", 58);
  return {
    id,
    object: "checkout.session",
    adaptive_pricing: null,
    after_expiration: null,
    allow_promotion_codes: null,
    allowed_payment_method_types: null,
    amount_subtotal: given.amount,
    amount_total: given.amount,
    automatic_tax: { enabled: false, liability: null, provider: null, status: null },
    billing_address_collection: null,
    cancel_url: given.cancelUrl ?? null,
    client_reference_id: given.clientReferenceId ?? null,
    client_secret: null,
    collected_information: null,
    consent: null,
    consent_collection: null,
    created: now,
    currency: given.currency,
    currency_conversion: null,
    custom_fields: [],
    custom_text: {
      after_submit: null,
      shipping_address: null,
      submit: null,
      terms_of_service_acceptance: null,
    },
    customer: null,
    customer_account: null,
    customer_creation: "if_required",
    customer_details: null,
    customer_email: given.customerEmail ?? null,
    discounts: [],
    expires_at: given.expiresAt ?? now + DAY_S,
    integration_identifier: null,
    invoice: null,
    invoice_creation: null,
    livemode,
    locale: given.locale ?? null,
    managed_payments: null,
    metadata: given.metadata,
    mode: "payment",
    origin_context: null,
    payment_intent: null,
    payment_link: null,
    payment_method_collection: "if_required",
    payment_method_configuration_details: null,
    payment_method_options: {},
    payment_method_types: ["card", "sepa_debit"],
    payment_status: "unpaid",
    permissions: null,
    recovered_from: null,
    saved_payment_method_options: null,
    setup_intent: null,
    shipping_address_collection: null,
    shipping_cost: null,
    shipping_options: [],
    status: "open",
    submit_type: null,
    subscription: null,
    success_url: given.successUrl,
    total_details: { amount_discount: 0, amount_shipping: 0, amount_tax: 0 },
    ui_mode: "hosted_page",
    url: `${origin}/c/pay/${id}`,
    wallet_options: null,
  };
}

export function newIntent(
  session: Session,
  metadata: Record<string, string>,
  now: number,
): Stripe.PaymentIntent {
  const id = newId("pi");
  return {
    id,
    object: "payment_intent",
    allowed_payment_method_types: null,
    amount: session.amount_total!,
    amount_capturable: 0,
    amount_details: { tip: {} },
    amount_received: 0,
    application: null,
    application_fee_amount: null,
    automatic_payment_methods: null,
    canceled_at: null,
    cancellation_reason: null,
    capture_method: "automatic_async",
    client_secret: `${id}_secret_${newId("", 24)}`,
    confirmation_method: "automatic",
    created: now,
    currency: session.currency!,
    customer: null,
    customer_account: null,
    description: null,
    excluded_payment_method_types: null,
    last_payment_error: null,
    latest_charge: null,
    livemode: session.livemode,
    managed_payments: null,
    metadata,
    next_action: null,
    on_behalf_of: null,
    payment_method: null,
    payment_method_configuration_details: null,
    payment_method_options: {},
    payment_method_types: session.payment_method_types,
    payment_record: null,
    processing: null,
    receipt_email: null,
    review: null,
    setup_future_usage: null,
    shipping: null,
    source: null,
    statement_descriptor: null,
    statement_descriptor_suffix: null,
    status: "requires_payment_method",
    transfer_data: null,
    transfer_group: null,
  };
}

export function newCharge(
  intent: Stripe.PaymentIntent,
  type: "card" | "sepa_debit",
  status: "succeeded" | "pending" | "failed",
  now: number,
): Stripe.Charge {
  const isPaid = status !== "failed";
  return {
    id: newId(type === "card" ? "ch" : "py"),
    object: "charge",
    amount: intent.amount,
    amount_captured: isPaid ? intent.amount : 0,
    amount_refunded: 0,
    application: null,
    application_fee: null,
    application_fee_amount: null,
    balance_transaction: status === "succeeded" ? newId("txn") : null,
    billing_details: {
      address: null,
      email: "buyer@shop.example",
      name: "B. Uyer",
      phone: null,
      tax_id: null,
    },
    calculated_statement_descriptor: null,
    captured: isPaid,
    created: now,
    currency: intent.currency,
    customer: null,
    description: null,
    disputed: false,
    failure_balance_transaction: null,
    failure_code: status === "failed" ? "card_declined" : null,
    failure_message: status === "failed" ? "Your card was declined." : null,
    fraud_details: {},
    livemode: intent.livemode,
    metadata: intent.metadata,
    on_behalf_of: null,
    outcome: null,
    paid: isPaid,
    payment_intent: intent.id,
    payment_method: newId("pm"),
    payment_method_details: { type },
    receipt_email: null,
    receipt_number: null,
    receipt_url: null,
    refunded: false,
    review: null,
    shipping: null,
    source: null,
    source_transfer: null,
    statement_descriptor: null,
    statement_descriptor_suffix: null,
    status,
    transfer_data: null,
    transfer_group: null,
  };
}

export function newRefund(
  charge: Stripe.Charge,
  amount: number,
  status: string,
  now: number,
): Stripe.Refund {
  return {
    id: newId("re"),
    object: "refund",
    amount,
    balance_transaction: newId("txn"),
    charge: charge.id,
    created: now,
    currency: charge.currency,
    customer: null,
    customer_account: null,
    metadata: {},
    payment_intent: charge.payment_intent,
    payment_method: charge.payment_method,
    reason: "requested_by_customer",
    receipt_number: null,
    source_transfer_reversal: null,
    status,
    transfer_reversal: null,
  };
}

export function newDispute(
  charge: Stripe.Charge,
  amount: number,
  isInquiry: boolean,
  now: number,
): Stripe.Dispute {
  return {
    id: newId("du"),
    object: "dispute",
    amount,
    balance_transactions: [],
    charge: charge.id,
    created: now,
    currency: charge.currency,
    enhanced_eligibility_types: [],
    evidence: {} as Stripe.Dispute.Evidence,
    evidence_details: {
      due_by: now + 9 * DAY_S,
      enhanced_eligibility: {},
      has_evidence: false,
      past_due: false,
      submission_count: 0,
    } as Stripe.Dispute.EvidenceDetails,
    intended_submission_method: null,
    is_charge_refundable: isInquiry,
    livemode: charge.livemode,
    metadata: {},
    payment_intent: charge.payment_intent,
    reason: "fraudulent",
    status: isInquiry ? "warning_needs_response" : "needs_response",
  };
}
