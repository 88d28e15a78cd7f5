// The ways to pay: what they cost and credit, and the switch of each. They are added on the command line, which reads
// their secrets.

/** @jsxImportSource preact */

import { listMethods } from "../../db/payments/payment-methods.ts";
import type { PaymentMethodRow } from "../../db/tables/payments.ts";
import { mayAct } from "../../domain/administrators/administrators.ts";
import { discountPercent } from "../../domain/catalogue/prices.ts";
import {
  bonusStepsText,
  METHOD_ID,
  readTexts,
  termsOf,
  textIn,
} from "../../domain/payments/payment-methods.ts";
import { refusal } from "../../domain/values/error-table.ts";
import { Form } from "../../web/components/fields.tsx";
import { Facts, List } from "../../web/components/lists.tsx";
import { Badge, Typed } from "../../web/components/shown.tsx";
import type { Redirect, View } from "../../web/server/results.ts";
import type { Call, Submission } from "../server/call.ts";
import { amountText } from "./payments.tsx";

export async function methodsPage(call: Call): Promise<View> {
  const methods = await call.read(listMethods);
  const mayChange = mayAct(call.visitor.administrator.role, "owner");
  return {
    title: "Ways to pay",
    body: (
      <>
        <h1>Ways to pay</h1>
        <p class="hint">
          Add one by <code>reseller admin payment method add</code>, which reads its secrets from a
          file or standard input. They are shown nowhere.
        </p>
        <List
          caption="Ways to pay, oldest first"
          rows={methods}
          empty="None yet: resellers cannot add funds in the portal."
          columns={[
            {
              heading: "Id",
              cell: ({ methodId }) => <a href={`/payment-methods/${methodId}`}>{methodId}</a>,
            },
            { heading: "Kind", cell: ({ kind }) => kind },
            {
              heading: "Name",
              cell: ({ names }) => <Typed text={Object.values(readTexts(names)).join(" / ")} />,
            },
            { heading: "Amounts", cell: limitsText },
            { heading: "Fee", cell: feeText },
            {
              heading: "Bonus",
              cell: (method) => bonusStepsText(termsOf(method).bonusSteps) || "–",
            },
            { heading: "For", cell: ({ resellers }) => `${resellers} resellers` },
            { heading: "State", cell: (method) => <MethodState method={method} /> },
            ...(mayChange
              ? [
                  {
                    heading: "Switch",
                    cell: ({ methodId, active }: PaymentMethodRow) => (
                      <Form
                        action={`/payment-methods/${methodId}`}
                        hidden={{ active: active ? "no" : "yes" }}
                      >
                        <button>{active ? "Turn off" : "Turn on"}</button>
                      </Form>
                    ),
                  },
                ]
              : []),
          ]}
        />
        <p>
          <a href="/payments">Payments</a>
        </p>
      </>
    ),
  };
}

export function MethodFacts({ method }: { method: PaymentMethodRow }) {
  return (
    <Facts
      facts={[
        ["Kind", method.kind],
        ["State", <MethodState method={method} />],
        ["Amounts", limitsText(method)],
        ["Fee", feeText(method)],
        ["Bonus", bonusStepsText(termsOf(method).bonusSteps) || "–"],
        ["For", `${method.resellers} resellers`],
        ["Customers read", <Typed text={textIn(readTexts(method.instructions), "en") || "–"} />],
      ]}
    />
  );
}

function MethodState({ method: { active } }: { method: PaymentMethodRow }) {
  return <Badge state={active ? "on" : "off"} tone={active ? "good" : "quiet"} />;
}

function limitsText({ minMicros, maxMicros, currency }: PaymentMethodRow): string {
  return `${amountText(minMicros, currency)} to ${amountText(maxMicros, currency)}`;
}

function feeText({ feePpm, feeFixedMicros, feePayer, currency }: PaymentMethodRow): string {
  if (feePpm === 0 && feeFixedMicros === 0) return "–";
  const fixed = feeFixedMicros === 0 ? "" : ` + ${amountText(feeFixedMicros, currency)}`;
  return `${discountPercent(feePpm)} %${fixed}, paid by the ${feePayer}`;
}

export async function switchMethod(submission: Submission): Promise<Redirect> {
  const active = submission.form.choice("active", ["yes", "no"]) === "yes";
  const found = METHOD_ID.read(submission.params["method"]!);
  if ("must" in found) throw refusal("payment_method_not_found");
  const methodId = found.value;
  await submission.submit("updatePaymentMethod", { methodId, changes: { active } });
  return { to: "/payment-methods", note: `${methodId} was turned ${active ? "on" : "off"}.` };
}
