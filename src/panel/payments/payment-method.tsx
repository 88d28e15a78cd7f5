// One way to pay: its texts, limits, fee and bonus. Its secrets are set on the command line, and shown nowhere.

/** @jsxImportSource preact */

import { findMethod } from "../../db/payments/payment-methods.ts";
import type { Reader } from "../../db/port/port.ts";
import type { PaymentMethodRow } from "../../db/tables/payments.ts";
import { mayAct } from "../../domain/administrators/administrators.ts";
import { discountPercent } from "../../domain/catalogue/prices.ts";
import { formatMicros } from "../../domain/ledger/money.ts";
import { LANGUAGE_NAMES, LANGUAGES } from "../../domain/members/languages.ts";
import { FEE_PAYERS } from "../../domain/payments/payment-amounts.ts";
import {
  BONUS_STEPS,
  bonusStepsText,
  INSTRUCTIONS_LIMIT,
  METHOD_ID,
  METHOD_NAME_LIMIT,
  readTexts,
  termsOf,
} from "../../domain/payments/payment-methods.ts";
import { refusal } from "../../domain/values/error-table.ts";
import { AMOUNT, DISCOUNT, RATE_TO_USD } from "../../domain/values/kinds.ts";
import { Area, Choice, Field, Form } from "../../web/components/fields.tsx";
import type { Form as Values } from "../../web/server/form.ts";
import type { Redirect, View } from "../../web/server/results.ts";
import type { Call, Submission } from "../server/call.ts";
import { MethodFacts } from "./payment-methods.tsx";

export function requireMethod(reader: Reader, params: Call["params"]): PaymentMethodRow {
  const id = METHOD_ID.read(params["method"]!);
  const method = "must" in id ? undefined : findMethod(reader, id.value);
  if (!method) throw refusal("payment_method_not_found");
  return method;
}

export async function methodPage(call: Call): Promise<View> {
  const method = await call.read((reader) => requireMethod(reader, call.params));
  const mayChange = mayAct(call.visitor.administrator.role, "owner");
  return {
    title: `Way to pay ${method.methodId}`,
    body: (
      <>
        <h1>{method.methodId}</h1>
        <section class="card">
          <MethodFacts method={method} />
        </section>
        {mayChange && <Terms method={method} />}
        <p>
          <a href="/payment-methods">Ways to pay</a>
        </p>
      </>
    ),
  };
}

function Terms({ method }: { method: PaymentMethodRow }) {
  const { methodId, currency } = method;
  const [names, instructions] = [readTexts(method.names), readTexts(method.instructions)];
  return (
    <section class="card">
      <Form action={`/payment-methods/${methodId}/terms`} submit="Save">
        <h2>Change it</h2>
        <p class="hint">Payments keep the terms under which they were asked for.</p>
        <Field
          name="min"
          label={`Smallest payment, in ${currency}`}
          inputmode="decimal"
          value={formatMicros(method.minMicros)}
        />
        <Field
          name="max"
          label={`Largest payment, in ${currency}`}
          inputmode="decimal"
          value={formatMicros(method.maxMicros)}
        />
        {currency !== "USD" && (
          <Field
            name="rate"
            label={`US dollars for one ${currency}`}
            inputmode="decimal"
            value={method.rateToUsd}
          />
        )}
        <Field
          name="fee"
          label="Fee, in percent"
          inputmode="decimal"
          value={discountPercent(method.feePpm)}
        />
        <Field
          name="fixed"
          label={`Fixed part of the fee, in ${currency}`}
          inputmode="decimal"
          value={formatMicros(method.feeFixedMicros)}
        />
        <Choice
          name="payer"
          label="Who pays the fee"
          value={method.feePayer}
          options={[
            ["customer", "the customer, on top"],
            ["operator", "you: all that was paid is credited"],
          ]}
        />
        <Field
          name="bonus"
          label="Bonus"
          hint="amount and percentage, such as 100=3,500=5; empty: none"
          value={bonusStepsText(termsOf(method).bonusSteps)}
        />
        {LANGUAGES.map((language) => (
          <>
            <Field
              name={`name-${language}`}
              label={`Name in ${LANGUAGE_NAMES[language]}`}
              hint={language === "en" ? "also for every language that you leave empty" : ""}
              required={language === "en"}
              value={names[language] ?? ""}
            />
            <Area
              name={`text-${language}`}
              label={`What customers read in ${LANGUAGE_NAMES[language]}`}
              rows={3}
              value={instructions[language] ?? ""}
            />
          </>
        ))}
      </Form>
    </section>
  );
}

export async function updateMethod(submission: Submission): Promise<Redirect> {
  const { form } = submission;
  const method = await submission.read((reader) => requireMethod(reader, submission.params));
  const { methodId, currency } = method;
  const changes = {
    minMicros: form.required("min", AMOUNT, 1),
    maxMicros: form.required("max", AMOUNT, 1),
    ...(currency !== "USD" && { rateToUsd: form.required("rate", RATE_TO_USD, "1") }),
    feePpm: form.required("fee", DISCOUNT, 0),
    feeFixedMicros: form.price("fixed"),
    feePayer: form.choice("payer", FEE_PAYERS),
    bonusSteps: JSON.stringify(form.optional("bonus", BONUS_STEPS, []) ?? []),
    names: JSON.stringify(textsIn(form, "name", readName)),
    instructions: JSON.stringify(textsIn(form, "text", readInstructions)),
  };
  form.check();
  // Whoever changes the text says where customers send their money.
  const plan = { methodId, changes };
  await submission.confirm({
    title: `Change how customers pay by ${methodId}`,
    moves: [],
    details: <MethodFacts method={{ ...method, ...changes }} />,
    isSensitive: true,
    plan,
  });
  await submission.submit("updatePaymentMethod", plan);
  return { to: `/payment-methods/${methodId}`, note: `${methodId} was changed.` };
}

type ReadText = (form: Values, field: string) => string;

function textsIn(form: Values, name: string, read: ReadText): Record<string, string> {
  const texts = LANGUAGES.map((language) => [language, read(form, `${name}-${language}`)] as const);
  return Object.fromEntries(texts.filter(([, text]) => text !== ""));
}

function readName(form: Values, field: string): string {
  if (field === "name-en") return form.text(field, METHOD_NAME_LIMIT);
  return form.optionalText(field, METHOD_NAME_LIMIT) ?? "";
}

function readInstructions(form: Values, field: string): string {
  const text = form.raw(field).replaceAll("\r\n", "\n");
  if (text.length > INSTRUCTIONS_LIMIT) {
    form.refuse(field, `at most ${INSTRUCTIONS_LIMIT} characters`);
  }
  return text;
}
