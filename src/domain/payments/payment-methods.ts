// Payment methods: their ids, texts, limits and bonus steps. The kinds themselves are in src/payments/.

import { parseDiscount } from "../catalogue/prices.ts";
import { AMOUNT_LIMIT_MICROS, formatMicros, parseMicros } from "../ledger/money.ts";
import { LANGUAGES, type Language } from "../members/languages.ts";
import type { Kind } from "../values/kinds.ts";
import { hasControlCharacter } from "../values/text.ts";
import type { BonusStep, PaymentTerms } from "./payment-amounts.ts";

/** Limit for an amount, in millionths of the currency. */
export const PAYMENT_LIMIT_MICROS = AMOUNT_LIMIT_MICROS;
/** Limit for methods that are not removed. */
export const METHODS_LIMIT = 50;
/** Limit for the resellers of a method. */
export const METHOD_RESELLERS_LIMIT = 1000;
const BONUS_STEPS_LIMIT = 10;
export const METHOD_NAME_LIMIT = 100;
const INSTRUCTIONS_LIMIT = 4000;

/** The text that customers read, of several lines. Empty: none. */
export const INSTRUCTIONS: Kind<string> = {
  form: `at most ${INSTRUCTIONS_LIMIT} characters without control characters`,
  read(text) {
    const value = text.replaceAll("\r\n", "\n").trim();
    const isRight =
      value.length <= INSTRUCTIONS_LIMIT &&
      value.isWellFormed() &&
      !hasControlCharacter(value.replace(/[\n\t]/g, ""));
    return isRight ? { value } : { must: INSTRUCTIONS.form };
  },
};

const ID = /^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/;
const ID_FORM = "1 to 40 small letters, digits and hyphens";

/** The id of a method, which its URLs show. */
export const METHOD_ID: Kind<string> = {
  form: ID_FORM,
  read: (text) => (ID.test(text) ? { value: text } : { must: ID_FORM }),
};

const STEPS_FORM = `up to ${BONUS_STEPS_LIMIT} steps of an amount and a percentage, such as 100=3,500=5, each above the one before it`;

/** Bonus steps such as `100=3,500=5`. Empty: none. */
export const BONUS_STEPS: Kind<BonusStep[]> = {
  form: STEPS_FORM,
  read(text) {
    if (text.trim() === "") return { value: [] };
    const steps: BonusStep[] = [];
    for (const part of text.split(",")) {
      const [from = "", percent = "", ...rest] = part.trim().split("=");
      const fromMicros = parseMicros(from);
      const ppm = parseDiscount(percent);
      const last = steps.at(-1)?.fromMicros ?? 0;
      if (rest.length > 0 || fromMicros === null || ppm === null || fromMicros <= last) {
        return { must: STEPS_FORM };
      }
      steps.push({ fromMicros, ppm });
    }
    return steps.length <= BONUS_STEPS_LIMIT ? { value: steps } : { must: STEPS_FORM };
  },
};

/** Formats bonus steps as they are typed. */
export function bonusStepsText(steps: readonly BonusStep[]): string {
  return steps.map(({ fromMicros, ppm }) => `${formatMicros(fromMicros)}=${ppm / 10_000}`).join();
}

/** What is known of a setting of a kind. */
export interface SettingFacts {
  name: string;
  /** It is stored, and shown nowhere. */
  isSecret: boolean;
  /** Without it the method cannot be offered. */
  isRequired: boolean;
}

/** Texts by language. English stands in for a language that is absent. */
export type MethodTexts = Partial<Record<Language, string>>;

export function textIn(texts: MethodTexts, language: Language): string {
  return texts[language] ?? texts.en ?? Object.values(texts)[0] ?? "";
}

/** Reads texts as they are stored. */
export function readTexts(json: string): MethodTexts {
  const read = JSON.parse(json) as Record<string, string>;
  return Object.fromEntries(LANGUAGES.flatMap((each) => (read[each] ? [[each, read[each]]] : [])));
}

/** Returns the terms of a method as it is now. */
export function termsOf(method: {
  currency: string;
  rateToUsd: string;
  feePpm: number;
  feeFixedMicros: number;
  feePayer: PaymentTerms["feePayer"];
  bonusSteps: string;
}): PaymentTerms {
  const { currency, rateToUsd, feePpm, feeFixedMicros, feePayer } = method;
  const bonusSteps = JSON.parse(method.bonusSteps) as BonusStep[];
  return { currency, rateToUsd, feePpm, feeFixedMicros, feePayer, bonusSteps };
}
