// The terms of a way to pay: the fields of its forms, and what customers pay and get by them.

/** @jsxImportSource preact */

import { useContext } from "preact/hooks";
import { discountPercent } from "../../domain/catalogue/prices.ts";
import { formatMicros, MICROS_PER_DOLLAR } from "../../domain/ledger/money.ts";
import { LANGUAGE_NAMES, LANGUAGES, type Language } from "../../domain/members/languages.ts";
import { unitMicrosOf } from "../../domain/payments/currencies.ts";
import { FEE_PAYERS, quotePayment } from "../../domain/payments/payment-amounts.ts";
import {
  BONUS_STEPS,
  bonusStepsText,
  INSTRUCTIONS,
  METHOD_NAME_LIMIT,
  type MethodTexts,
  PAYMENT_LIMIT_MICROS,
  readTexts,
  termsOf,
} from "../../domain/payments/payment-methods.ts";
import { AMOUNT, DISCOUNT, RATE_TO_USD, USERNAME } from "../../domain/values/kinds.ts";
import type { MethodTerms } from "../../operations/payments/payment-methods.ts";
import type { MethodKind } from "../../payments/method.ts";
import { settingMust, settingsOf } from "../../payments/method-settings.ts";
import { Area, Choice, Field, Refused } from "../../web/components/fields.tsx";
import { Facts, List } from "../../web/components/lists.tsx";
import { Money, Typed, TypedLines } from "../../web/components/shown.tsx";
import type { Form as Values } from "../../web/server/form.ts";
import { amountText } from "./payments.tsx";
import type { ShownMethod } from "./shown-method.ts";

/** What a form sets, apart from secrets and whether the method is offered. */
export type FormTerms = Omit<MethodTerms, "active">;

/** The most that a bonus usually is. A larger one is shown as dangerous, in case a digit was typed twice. */
const USUAL_BONUS_PPM = 200_000;

const OTHER_LANGUAGES = LANGUAGES.filter((each) => each !== "en");

/** `shown`: absent for a new method. `action`: of the form. */
export function TermsFields({
  kind,
  shown,
  action,
}: {
  kind: MethodKind;
  shown?: ShownMethod;
  action: string;
}) {
  const method = shown?.method;
  const currency = method?.currency;
  const unit = currency === undefined ? "" : `, in ${currency}`;
  const names = readTexts(method?.names ?? "{}");
  const texts = readTexts(method?.instructions ?? "{}");
  const refused = useContext(Refused);
  const typed = refused?.action === action ? refused.form.values : null;
  const hasOther = OTHER_LANGUAGES.some((each) =>
    typed ? typed.get(`name-${each}`) || typed.get(`text-${each}`) : (names[each] ?? texts[each]),
  );
  return (
    <>
      <Texts language="en" names={names} texts={texts} />
      <details open={hasOther}>
        <summary>Other languages</summary>
        {OTHER_LANGUAGES.map((language) => (
          <Texts language={language} names={names} texts={texts} />
        ))}
      </details>
      <div class="pair">
        <Field
          name="min"
          label={`Smallest payment${unit}`}
          inputmode="decimal"
          value={formatMicros(method?.minMicros ?? MICROS_PER_DOLLAR)}
        />
        <Field
          name="max"
          label={`Largest payment${unit}`}
          inputmode="decimal"
          value={formatMicros(method?.maxMicros ?? PAYMENT_LIMIT_MICROS / 1_000_000)}
        />
      </div>
      {currency !== undefined && currency !== "USD" && (
        <Field
          name="rate-to-usd"
          label={`US dollars for one ${currency}`}
          inputmode="decimal"
          value={method!.rateToUsd}
        />
      )}
      <div class="pair">
        <Field
          name="fee"
          label="Fee, in percent"
          inputmode="decimal"
          value={discountPercent(method?.feePpm ?? 0)}
        />
        <Field
          name="fixed"
          label={`Fixed part of the fee${unit}`}
          inputmode="decimal"
          value={formatMicros(method?.feeFixedMicros ?? 0)}
        />
      </div>
      <Choice
        name="payer"
        label="Who pays the fee"
        value={method?.feePayer ?? "operator"}
        options={[
          ["customer", "the customer, on top"],
          ["operator", "you: all that was paid is credited"],
        ]}
      />
      <Field
        name="bonus"
        label="Bonus"
        hint="amount and percentage, such as 100=3,500=5: 3 % from 100 on, 5 % from 500 on; empty: none"
        value={method ? bonusStepsText(termsOf(method).bonusSteps) : ""}
      />
      {plainSettings(kind).map(({ name, description, form = "" }) => (
        <Field
          name={name}
          label={name === "pay-url" ? "Page to pay on" : name}
          hint={`${form}: ${description}`}
          value={method ? (settingsOf(method)[name] ?? "") : ""}
        />
      ))}
      <Area
        name="resellers"
        label="Only for these resellers"
        hint="usernames, separated by spaces or lines; empty: for all"
        rows={2}
        value={shown?.resellers?.join("\n") ?? ""}
      />
    </>
  );
}

function Texts({
  language,
  names,
  texts,
}: {
  language: Language;
  names: MethodTexts;
  texts: MethodTexts;
}) {
  const isEnglish = language === "en";
  return (
    <>
      <Field
        name={`name-${language}`}
        label={`Name in ${LANGUAGE_NAMES[language]}`}
        hint={isEnglish ? "also for every language that you leave empty" : ""}
        required={isEnglish}
        value={names[language] ?? ""}
      />
      <Area
        name={`text-${language}`}
        label={`What customers read in ${LANGUAGE_NAMES[language]}`}
        rows={3}
        value={texts[language] ?? ""}
      />
    </>
  );
}

function plainSettings(kind: MethodKind) {
  return kind.settings.filter(({ isSecret }) => !isSecret);
}

/** Reads the fields. `settings` holds those that are not secret, an empty one to remove it. */
export function readTermsFields(form: Values, kind: MethodKind, currency: string): FormTerms {
  const isUsd = currency === "USD";
  const settings = plainSettings(kind).map((setting) => {
    const value = form.raw(setting.name);
    const must = settingMust(setting, value);
    if (must !== null) form.refuse(setting.name, must);
    return [setting.name, value] as const;
  });
  const rateToUsd = isUsd
    ? (form.optional("rate-to-usd", RATE_TO_USD, "1") ?? "1")
    : form.required("rate-to-usd", RATE_TO_USD, "1");
  return {
    names: textsIn(form, "name", readName),
    instructions: textsIn(form, "text", readInstructions),
    minMicros: form.required("min", AMOUNT, 1),
    maxMicros: form.required("max", AMOUNT, 1),
    feePpm: form.required("fee", DISCOUNT, 0),
    feeFixedMicros: form.price("fixed"),
    feePayer: form.choice("payer", FEE_PAYERS),
    bonusSteps: JSON.stringify(form.optional("bonus", BONUS_STEPS, []) ?? []),
    rateToUsd,
    settings: JSON.stringify(Object.fromEntries(settings)),
  };
}

/** Reads the usernames of the only resellers that may use the method; null: all. */
export function readResellers(form: Values): string[] | null {
  const names = form
    .raw("resellers")
    .split(/[\s,]+/)
    .filter((name) => name !== "");
  for (const name of names) {
    const found = USERNAME.read(name);
    if ("must" in found) form.addError("resellers", `${name} is no username: ${found.must}`);
  }
  return names.length === 0 ? null : [...new Set(names)];
}

function textsIn(
  form: Values,
  name: string,
  read: (form: Values, field: string) => string,
): string {
  const texts = LANGUAGES.map((language) => [language, read(form, `${name}-${language}`)] as const);
  return JSON.stringify(Object.fromEntries(texts.filter(([, text]) => text !== "")));
}

function readName(form: Values, field: string): string {
  if (field === "name-en") return form.text(field, METHOD_NAME_LIMIT);
  return form.optionalText(field, METHOD_NAME_LIMIT) ?? "";
}

function readInstructions(form: Values, field: string): string {
  return form.optional(field, INSTRUCTIONS, "") ?? "";
}

type QuotedMethod = Parameters<typeof termsOf>[0] & { minMicros: number; maxMicros: number };

/** What customers pay and get: for the smallest and the largest payment, a usual one, and from each step of the bonus on. */
export function Examples({ method }: { method: QuotedMethod }) {
  const { currency, minMicros, maxMicros } = method;
  const terms = termsOf(method);
  const unit = unitMicrosOf(currency);
  const wanted = [minMicros, 100 * MICROS_PER_DOLLAR, maxMicros];
  for (const { fromMicros } of terms.bonusSteps) wanted.push(Math.ceil(fromMicros / unit) * unit);
  const amounts = [...new Set(wanted)]
    .filter((micros) => micros >= minMicros && micros <= maxMicros)
    .toSorted((one, other) => one - other);
  const rows = amounts.map((micros) => ({ micros, ...quotePayment(terms, micros) }));
  return (
    <>
      <h2>What customers pay and get</h2>
      <List
        caption="What customers pay and get"
        rows={rows}
        empty=""
        columns={[
          {
            heading: "Amount",
            number: true,
            cell: ({ micros }) => amountText(micros, currency),
          },
          {
            heading: "To pay",
            number: true,
            cell: ({ dueMicros }) => amountText(dueMicros, currency),
          },
          {
            heading: "Credit USD",
            number: true,
            cell: ({ creditMicros }) => <Money micros={creditMicros} />,
          },
          {
            heading: "Bonus USD",
            number: true,
            cell: ({ bonusMicros }) => <Money micros={bonusMicros} />,
          },
        ]}
      />
    </>
  );
}

/** What is confirmed before terms are stored: what customers read, pay and get. */
export function TermsToConfirm({
  terms,
  currency,
  resellers,
}: {
  terms: FormTerms;
  currency: string;
  resellers: readonly string[] | null;
}) {
  const { names, instructions, rateToUsd, settings } = terms;
  const plain = Object.entries(settingsOf({ settings })).filter(([, value]) => value !== "");
  return (
    <>
      {hasLargeBonus({ ...terms, currency }) && (
        <p class="notice bad">The bonus is large: compare what customers pay and get.</p>
      )}
      <Facts
        facts={[
          ...textFacts({ names, instructions }),
          ...plain.map(([name, value]) => [name, <Typed text={value} />] as const),
          ["For", resellers === null ? "all resellers" : <Typed text={resellers.join(", ")} />],
          ...(currency === "USD" ? [] : [[`1 ${currency}`, `${rateToUsd} USD`] as const]),
        ]}
      />
      <Examples method={{ ...terms, currency }} />
    </>
  );
}

/** The names of a method, and what customers read in each language. */
export function textFacts({ names, instructions }: Pick<FormTerms, "names" | "instructions">) {
  const texts = Object.entries(readTexts(instructions)) as [Language, string][];
  return [
    ["Name", <Typed text={Object.values(readTexts(names)).join(" / ")} />] as const,
    ...texts.map(
      ([language, text]) =>
        [`Customers read in ${LANGUAGE_NAMES[language]}`, <TypedLines text={text} />] as const,
    ),
  ];
}

/** Whether a bonus is so large that it may be a mistake. */
export function hasLargeBonus(method: Parameters<typeof termsOf>[0]): boolean {
  return termsOf(method).bonusSteps.some(({ ppm }) => ppm > USUAL_BONUS_PPM);
}
