// The interface that every payment method implements. A new kind is a file beside callback.ts and a line in methods.ts.
// Calls never reject: they resolve with a result that says what failed. Its text is for the operator, without secrets.

import type { Language } from "../domain/members/languages.ts";
import type { SettingFacts } from "../domain/payments/payment-methods.ts";
import type { PaymentReading } from "../domain/payments/payment-reads.ts";

/** A setting of a method. A secret is read from standard input or a file, and shown nowhere. */
export interface MethodSetting extends SettingFacts {
  /** For the help of the command line and the panel. */
  description: string;
  /** The allowed form in words; with `isRight`. */
  form?: string;
  isRight?: (value: string) => boolean;
  /** Makes the value of a secret that the operator does not give, for the other side. It is shown once. */
  make?: () => string;
}

export type MethodSettings = Readonly<Record<string, string>>;

/** What the customer is to pay. */
export interface PaymentToBegin {
  /** Our id of the payment, and the idempotency key of the call. */
  id: string;
  /** With the fee, in millionths of the currency; a whole number of its smallest units. */
  amountMicros: number;
  /** In upper case. */
  currency: string;
  /** For the customer. */
  description: string;
  language: Language;
  email: string | null;
  /** The page of the payment, to which the customer returns. That a browser returns proves nothing. */
  returnUrl: string;
  createdAt: number;
}

/**
 * `begun`: `reference` is the method's own id, `url` the page to pay on, `expiresAt` when it ends. `refused`: it was
 * certainly not begun. `unknown`: it is begun again with the same id.
 */
export type BeginResult =
  | { outcome: "begun"; reference: string | null; url: string | null; expiresAt: number | null }
  | { outcome: "refused"; cause: string }
  | { outcome: "unknown"; cause: string };

export type ReadResult = { reading: PaymentReading } | { failed: string };

export interface Notice {
  body: Uint8Array;
  headers: Pick<Headers, "get">;
  now: number;
}

/**
 * What a verified notice claims. `read`: the payment has changed, so it is read. `paid`: it was signed with our secret,
 * and is believed; `programId` is the program's own id. `none`: it is about no payment of ours. `refused`: it is not
 * genuine. `wrong`: it is genuine, but cannot be recorded. `failed`: it could not be understood now, and
 * is to be sent again.
 */
export type NoticeResult =
  | { claim: "read"; paymentId: string | null; reference: string | null }
  | {
      claim: "paid";
      paymentId: string;
      programId: string;
      amountMicros: number;
      currency: string;
    }
  | { claim: "none" }
  | { wrong: string }
  | { refused: string }
  | { failed: string };

/** A method with its settings. */
export interface MethodApi {
  begin(payment: PaymentToBegin, stop: AbortSignal): Promise<BeginResult>;
  /** Absent: the method cannot be asked. */
  read?(payment: { id: string; reference: string }, stop: AbortSignal): Promise<ReadResult>;
  /**
   * Asks the provider whether it takes the settings. Resolves with the reason if it does not, otherwise with null.
   * Absent: the method has no provider that could be asked.
   */
  check?(stop: AbortSignal): Promise<string | null>;
  /** Absent: the method sends no notices. */
  notice?(notice: Notice): Promise<NoticeResult>;
}

/** What a method may use. */
export interface MethodDeps {
  /** Time limit of a call. */
  timeoutMs: number;
  /** Another address than Stripe's, for tests; null: Stripe's. */
  stripeApi: URL | null;
}

export interface MethodKind {
  kind: string;
  settings: readonly MethodSetting[];
  /** Whether the customer says that it paid, and the operator decides. */
  isClaimed: boolean;
  /** Whether payments can be read from their provider: MethodApi has `read`. */
  isReadable: boolean;
  /** The events that the operator chooses at the other side, to be sent to the address for notices. Absent: no notices. */
  events?: readonly string[];
  /** Whether payments by these settings move no real money. Absent: they always do. */
  isTest?(settings: MethodSettings): boolean;
  /** How long a payment that was begun stays open, if the method does not say. */
  openMs: number;
  /** Whether the method can take every amount of a currency. Absent: it takes all currencies. */
  takesCurrency?(currency: string): boolean;
  connect(settings: MethodSettings, deps: MethodDeps): Promise<MethodApi>;
}
