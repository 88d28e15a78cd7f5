// A new way to pay: its kind, id and terms. A secret for another program is shown once; the secrets of Stripe are entered on
// the page of the method.

/** @jsxImportSource preact */

import { PAYMENT_CURRENCY } from "../../domain/payments/currencies.ts";
import { METHOD_ID } from "../../domain/payments/payment-methods.ts";
import { oneOf } from "../../domain/values/kinds.ts";
import {
  knownSettings,
  madeSecrets,
  missingSettings,
  settingsOf,
} from "../../payments/method-settings.ts";
import type { MethodKind } from "../../payments/method.ts";
import { kindOf, METHOD_KINDS } from "../../payments/methods.ts";
import { Box, Field, Form } from "../../web/components/fields.tsx";
import { PageHead, Tabs } from "../../web/components/page-head.tsx";
import { shownOnce } from "../../web/components/shown-once.tsx";
import type { Redirect, View } from "../../web/server/results.ts";
import type { Call, Submission } from "../server/call.ts";
import {
  hasLargeBonus,
  readResellers,
  readTermsFields,
  TermsFields,
  TermsToConfirm,
} from "./method-terms.tsx";
import { methodPath } from "./shown-method.ts";

const ACTION = "/payment-methods";
const PAGE = "/new-payment-method";
const KINDS = METHOD_KINDS.map(({ kind }) => kind);

/** What an operator chooses between, by kind. */
const KIND_WORDS: Readonly<Record<string, readonly [name: string, explanation: string]>> = {
  manual: [
    "By hand",
    "A bank, a wallet, a phone: customers read how to pay, and say that they did. You approve each payment.",
  ],
  callback: [
    "Another program",
    "A payment program of yours reports what it received, signed by a secret that is shown to you once.",
  ],
  stripe: [
    "Card, by Stripe",
    "Customers pay on Stripe's page. Add it first: its page then shows what to enter at Stripe, and takes its keys.",
  ],
};

export function kindWords({ kind }: MethodKind): string {
  return KIND_WORDS[kind]?.[0] ?? kind;
}

export async function newMethodPage(call: Call): Promise<View> {
  const chosen = oneOf(KINDS).read(call.filters.raw("kind"));
  const kind = kindOf({ kind: "value" in chosen ? chosen.value : KINDS[0]! });
  return Promise.resolve({
    title: "New way to pay",
    body: (
      <>
        <PageHead title="New way to pay" />
        <Tabs
          label="Kind"
          tabs={METHOD_KINDS.map((each) => ({
            text: kindWords(each),
            href: `${PAGE}?kind=${each.kind}`,
            isChosen: each === kind,
          }))}
        />
        <section class="card narrow-card">
          <p>{KIND_WORDS[kind.kind]?.[1]}</p>
          <Form
            action={ACTION}
            submit="Add it"
            hidden={{ kind: kind.kind, query: `kind=${kind.kind}` }}
          >
            <Field
              name="id"
              label="Id"
              hint={`${METHOD_ID.form}; it is never changed, and part of addresses`}
              required
            />
            <div class="pair">
              <Field
                name="currency"
                label="Currency that customers pay in"
                hint="three letters, never changed"
                value="USD"
              />
              <Field
                name="rate-to-usd"
                label="US dollars for one unit of it"
                hint="empty for USD"
                inputmode="decimal"
              />
            </div>
            <TermsFields kind={kind} action={ACTION} />
            {missingSettings(kind, madeSecrets(kind, {})).length === 0 && (
              <Box name="active" label="Offer it to resellers at once" checked={kind.isClaimed} />
            )}
          </Form>
        </section>
      </>
    ),
  });
}

export async function createMethod(submission: Submission): Promise<View | Redirect> {
  const { form } = submission;
  const kind = kindOf({ kind: form.choice("kind", KINDS) });
  const methodId = form.required("id", METHOD_ID, "");
  const currency = form.required("currency", PAYMENT_CURRENCY, "USD");
  if (kind.takesCurrency?.(currency) === false) {
    form.addError("currency", `${kindWords(kind)} takes no ${currency}`);
  }
  const terms = readTermsFields(form, kind, currency);
  const resellers = readResellers(form);
  const active = form.isChecked("active");
  form.check();
  const plan = { methodId, kind: kind.kind, currency, terms, active, resellers };
  await submission.confirm({
    title: `Add the way to pay ${methodId}`,
    moves: [],
    danger: hasLargeBonus({ ...terms, currency }),
    details: <TermsToConfirm terms={terms} currency={currency} resellers={resellers} />,
    isSensitive: true,
    plan,
  });
  const made = madeSecrets(kind, {});
  const given = Object.entries(settingsOf(terms)).filter(([, value]) => value !== "");
  const settings = JSON.stringify({ ...Object.fromEntries(given), ...made });
  const known = knownSettings(kind);
  const stored = { ...terms, active, settings };
  await submission.submit("createPaymentMethod", { ...plan, terms: stored, known });
  const to = methodPath({ methodId });
  const [secret] = Object.values(made);
  if (secret !== undefined) return shownOnce(secret, `The secret of ${methodId}`, to);
  return { to, note: `${methodId} was added.` };
}
