// What a payment costs and credits: fee, bonus and credit by the terms of its method.
// docs/specification/payments.md#payment-amounts.

import { multiplyDivideDown, multiplyDivideUp } from "../ledger/money.ts";
import { toUsdMicros, unitMicrosOf } from "./currencies.ts";

const PPM = 1_000_000;

export const FEE_PAYERS = ["customer", "operator"] as const;
/** Who pays the fee. The customer pays it on top of what is credited. */
export type FeePayer = (typeof FEE_PAYERS)[number];

/**
 * The bonus for amounts of at least `fromMicros`, in millionths of the currency. `ppm`: the bonus, in millionths of the
 * credit.
 */
export interface BonusStep {
  fromMicros: number;
  ppm: number;
}

/** The terms of a method, which a payment keeps. */
export interface PaymentTerms {
  currency: string;
  /** US dollars for one unit of the currency. */
  rateToUsd: string;
  feePpm: number;
  feeFixedMicros: number;
  feePayer: FeePayer;
  /** The lowest first. */
  bonusSteps: readonly BonusStep[];
}

/** `feeMicros`, `dueMicros`: in millionths of the currency. The others in millionths of a US dollar. */
export interface PaymentQuote {
  feeMicros: number;
  /** What the customer is to pay. */
  dueMicros: number;
  creditMicros: number;
  bonusMicros: number;
}

/** What is credited, in millionths of a US dollar. */
export type PaymentCredit = Pick<PaymentQuote, "creditMicros" | "bonusMicros">;

export function quotePayment(terms: PaymentTerms, askedMicros: number): PaymentQuote {
  const feeMicros = feeOf(terms, askedMicros);
  const dueMicros = askedMicros + (terms.feePayer === "customer" ? feeMicros : 0);
  return { feeMicros, dueMicros, ...creditOf(terms, askedMicros) };
}

/**
 * Returns the credit for a received amount. The amount due gets the quoted credit. Any other amount is credited as
 * received, less the fee if the customer pays it. Without the bonus, the credit is never more than what was received.
 */
export function creditForReceived(
  terms: PaymentTerms,
  { askedMicros, dueMicros }: { askedMicros: number; dueMicros: number },
  receivedMicros: number,
): PaymentCredit {
  const baseMicros = receivedMicros === dueMicros ? askedMicros : withoutFee(terms, receivedMicros);
  return creditOf(terms, baseMicros);
}

function creditOf({ rateToUsd, bonusSteps }: PaymentTerms, baseMicros: number): PaymentCredit {
  const creditMicros = toUsdMicros(baseMicros, rateToUsd);
  const step = bonusSteps.findLast(({ fromMicros }) => baseMicros >= fromMicros);
  return { creditMicros, bonusMicros: multiplyDivideDown(creditMicros, step?.ppm ?? 0, PPM) };
}

/** Returns the fee, rounded up to the smallest unit of the currency. */
function feeOf({ feePpm, feeFixedMicros, currency }: PaymentTerms, baseMicros: number): number {
  const unit = unitMicrosOf(currency);
  const fee = feeFixedMicros + multiplyDivideUp(baseMicros, feePpm, PPM);
  return Math.ceil(fee / unit) * unit;
}

/** Returns the largest multiple of the currency's smallest unit that, with its fee, is at most what was received. */
function withoutFee(terms: PaymentTerms, receivedMicros: number): number {
  if (terms.feePayer === "operator") return receivedMicros;
  const unit = unitMicrosOf(terms.currency);
  const left = Math.max(0, receivedMicros - terms.feeFixedMicros);
  let units = Math.floor(multiplyDivideDown(left, PPM, PPM + terms.feePpm) / unit);
  while (units > 0 && units * unit + feeOf(terms, units * unit) > receivedMicros) units -= 1;
  return units * unit;
}

/** The terms as they are stored. */
export function writeTerms(terms: PaymentTerms): string {
  const { currency, rateToUsd, feePpm, feeFixedMicros, feePayer, bonusSteps } = terms;
  return JSON.stringify({ currency, rateToUsd, feePpm, feeFixedMicros, feePayer, bonusSteps });
}

export function readTerms({ terms }: { terms: string }): PaymentTerms {
  return JSON.parse(terms) as PaymentTerms;
}
