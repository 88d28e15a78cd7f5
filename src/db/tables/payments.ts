// Tables of payments: methods, payments, their events, transfers and attachments.

import { integer, text } from "drizzle-orm/sqlite-core";
import type { FeePayer } from "../../domain/payments/payment-amounts.ts";
import type {
  PaymentAwaits,
  PaymentEvent,
  PaymentState,
} from "../../domain/payments/payment-states.ts";
import type { SurplusCause } from "../../domain/payments/payment-surpluses.ts";
import type { AttachmentType } from "../../domain/payments/attachments.ts";
import { type NewRowOf, type RowOf, table } from "../port/table-definition.ts";
import { catalogueLock } from "./locks.ts";

export const paymentMethods = table(
  "payment_methods",
  {
    methodId: text().primaryKey(),
    kind: text().notNull(),
    /** JSON by language, as `instructions`. */
    names: text().notNull(),
    instructions: text().notNull(),
    minMicros: integer().notNull(),
    maxMicros: integer().notNull(),
    feePpm: integer().notNull(),
    feeFixedMicros: integer().notNull(),
    feePayer: text().$type<FeePayer>().notNull(),
    /** JSON. */
    bonusSteps: text().notNull(),
    currency: text().notNull(),
    rateToUsd: text().notNull(),
    /** JSON; holds the secrets. */
    settings: text().notNull(),
    resellers: text().$type<"all" | "listed">().notNull(),
    active: integer({ mode: "boolean" }).notNull(),
    createdAt: integer().notNull(),
    removedAt: integer(),
    /** When the first genuine notice arrived; null: none with the present secret. */
    noticedAt: integer(),
  },
  { key: ["methodId"], lock: catalogueLock },
);

export type PaymentMethodRow = RowOf<typeof paymentMethods>;

/** The resellers that may use a method that is not for all. */
export const paymentMethodResellers = table(
  "payment_method_resellers",
  { methodId: text().notNull(), account: integer().notNull() },
  { key: ["methodId", "account"], lock: catalogueLock },
);

export const payments = table(
  "payments",
  {
    /** Only for lists: callers know `id`. */
    paymentId: integer().primaryKey(),
    id: text().notNull(),
    account: integer().notNull(),
    methodId: text().notNull(),
    memberId: text(),
    requestKey: text().notNull(),
    state: text().$type<PaymentState>().notNull(),
    awaits: text().$type<PaymentAwaits>(),
    askedMicros: integer().notNull(),
    feeMicros: integer().notNull(),
    dueMicros: integer().notNull(),
    currency: text().notNull(),
    /** JSON. */
    terms: text().notNull(),
    creditMicros: integer().notNull(),
    bonusMicros: integer().notNull(),
    methodReference: text(),
    url: text(),
    expiresAt: integer(),
    customerReference: text(),
    receivedMicros: integer(),
    receivedCurrency: text(),
    refundedMicros: integer().notNull().default(0),
    disputedMicros: integer().notNull().default(0),
    settledMicros: integer().notNull().default(0),
    reversedMicros: integer().notNull().default(0),
    reason: text(),
    cause: text(),
    createdAt: integer().notNull(),
    changedAt: integer().notNull(),
    paidAt: integer(),
    nextReadAt: integer(),
    reads: integer().notNull().default(0),
    /** Whether its provider or program has reported what was received. */
    reported: integer({ mode: "boolean" }).notNull().default(false),
    reportedRefundMicros: integer().notNull().default(0),
    nettedMicros: integer().notNull().default(0),
  },
  {
    key: ["paymentId"],
    numberField: "paymentId",
    unique: {
      byId: ["id"],
      byRequest: ["account", "requestKey"],
      byReference: ["methodId", "methodReference"],
    },
    lock: ({ account }) => account,
  },
);

export type Payment = RowOf<typeof payments>;
export type NewPayment = NewRowOf<typeof payments>;

/** Append-only. `operator`: who made it; null: a server. */
export const paymentEvents = table(
  "payment_events",
  {
    seq: integer().primaryKey(),
    paymentId: integer().notNull(),
    account: integer().notNull(),
    event: text().$type<PaymentEvent | "created">().notNull(),
    fromState: text().$type<PaymentState>().notNull(),
    toState: text().$type<PaymentState>().notNull(),
    operator: text(),
    detail: text(),
    createdAt: integer().notNull(),
  },
  { key: ["seq"], numberField: "seq", lock: ({ account }) => account },
);

export type PaymentEventRow = RowOf<typeof paymentEvents>;

/** Append-only. */
export const paymentTransfers = table(
  "payment_transfers",
  {
    seq: integer().primaryKey(),
    paymentId: integer().notNull(),
    account: integer().notNull(),
    kind: text().$type<"payment" | "payment_bonus" | "payment_reversal">().notNull(),
  },
  {
    key: ["seq"],
    unique: { once: ["paymentId", "kind"] },
    where: {
      once: {
        text: "kind <> 'payment_reversal'",
        holds: ({ kind }) => kind !== "payment_reversal",
      },
    },
    lock: ({ account }) => account,
  },
);

/** Money that was received for a payment, and that the payment does not credit. */
export const paymentSurpluses = table(
  "payment_surpluses",
  {
    surplusId: integer().primaryKey(),
    paymentId: integer().notNull(),
    account: integer().notNull(),
    methodId: text().notNull(),
    cause: text().$type<SurplusCause>().notNull(),
    reference: text(),
    currency: text().notNull(),
    amountMicros: integer().notNull(),
    leftMicros: integer().notNull(),
    createdAt: integer().notNull(),
    settledAt: integer(),
  },
  {
    key: ["surplusId"],
    numberField: "surplusId",
    unique: { byReference: ["methodId", "reference"] },
    lock: ({ account }) => account,
  },
);

export type PaymentSurplus = RowOf<typeof paymentSurpluses>;

/** Files of customers, in base64. */
export const paymentAttachments = table(
  "payment_attachments",
  {
    paymentId: integer().primaryKey(),
    account: integer().notNull(),
    type: text().$type<AttachmentType>().notNull(),
    bytes: integer().notNull(),
    sha256: text().notNull(),
    data: text().notNull(),
    createdAt: integer().notNull(),
  },
  { key: ["paymentId"], lock: ({ account }) => account },
);

export type PaymentAttachment = RowOf<typeof paymentAttachments>;
