// The ways to pay: what they cost, credit and lack, and the switch of each.

/** @jsxImportSource preact */

import { listMethods } from "../../db/payments/payment-methods.ts";
import type { PaymentMethodRow } from "../../db/tables/payments.ts";
import { mayAct } from "../../domain/administrators/administrators.ts";
import { discountPercent } from "../../domain/catalogue/prices.ts";
import { readTexts, termsOf } from "../../domain/payments/payment-methods.ts";
import { knownSettings, problemsOf, settingsOf } from "../../payments/method-settings.ts";
import { kindOf } from "../../payments/methods.ts";
import { METHOD_DAYS, type MethodMoney, readMethodMoney } from "../../reports/method-money.ts";
import { Form } from "../../web/components/fields.tsx";
import { List } from "../../web/components/lists.tsx";
import { PageHead } from "../../web/components/page-head.tsx";
import { Badge, Cents, Typed } from "../../web/components/shown.tsx";
import type { Redirect, View } from "../../web/server/results.ts";
import type { Call, Submission } from "../server/call.ts";
import type { Panel } from "../server/panel.ts";
import { kindWords } from "./new-payment-method.tsx";
import { amountText } from "./payments.tsx";
import { methodOf, methodPath } from "./shown-method.ts";

export async function methodsPage(call: Call, panel: Panel): Promise<View> {
  const methods = await call.read(listMethods);
  const money = await readMethodMoney(panel.store, panel.now());
  const mayChange = mayAct(call.visitor.administrator.role, "owner");
  return {
    title: "Ways to pay",
    body: (
      <>
        <PageHead title="Ways to pay">
          <span class="inline end">
            <a class="button" href="/payments">
              Payments
            </a>
            {mayChange && (
              <a class="button primary" href="/new-payment-method">
                New way to pay
              </a>
            )}
          </span>
        </PageHead>
        {panel.portal.url() === null && (
          <p class="notice busy">
            The portal is off, so nobody can pay: start the server with <code>--portal on</code>.
          </p>
        )}
        <List
          caption="Ways to pay, oldest first"
          rows={methods}
          empty="None yet: resellers cannot add funds in the portal."
          columns={columnsOf(money, mayChange)}
        />
      </>
    ),
  };
}

function columnsOf(money: ReadonlyMap<string, MethodMoney>, mayChange: boolean) {
  return [
    {
      heading: "Id",
      place: "title" as const,
      cell: (method: PaymentMethodRow) => <a href={methodPath(method)}>{method.methodId}</a>,
    },
    {
      heading: "Name",
      place: "first" as const,
      cell: ({ names }: PaymentMethodRow) => (
        <Typed text={Object.values(readTexts(names)).join(" / ")} />
      ),
    },
    { heading: "Kind", wide: true, cell: (method: PaymentMethodRow) => kindWords(kindOf(method)) },
    { heading: "Amounts", wide: true, cell: limitsText },
    { heading: "Fee", cell: feeText },
    {
      heading: "Bonus",
      cell: bonusText,
    },
    {
      heading: `USD in ${METHOD_DAYS} days`,
      number: true,
      place: "end" as const,
      cell: ({ methodId }: PaymentMethodRow) => <Cents micros={money.get(methodId)?.micros ?? 0} />,
    },
    {
      heading: "Not right",
      place: "foot" as const,
      cell: (method: PaymentMethodRow) => (
        <Typed text={problemsOf(kindOf(method), method).join(" ")} />
      ),
    },
    {
      heading: "State",
      place: "state" as const,
      cell: (method: PaymentMethodRow) => <MethodState method={method} />,
    },
    ...(mayChange
      ? [
          {
            heading: "Switch",
            place: "second" as const,
            cell: (method: PaymentMethodRow) => <MethodSwitch method={method} isOfList />,
          },
        ]
      : []),
  ];
}

export function MethodState({ method: { active } }: { method: PaymentMethodRow }) {
  return <Badge state={active ? "on" : "off"} tone={active ? "good" : "quiet"} />;
}

export function MethodSwitch({
  method,
  isOfList = false,
}: {
  method: PaymentMethodRow;
  isOfList?: boolean;
}) {
  const { methodId, active } = method;
  const words = active ? "Turn off" : "Turn on";
  return (
    <Form
      action={methodPath(method)}
      id={methodId}
      hidden={{ active: active ? "no" : "yes", ...(isOfList && { list: "yes" }) }}
    >
      <button aria-label={isOfList ? `${words} ${methodId}` : undefined}>{words}</button>
    </Form>
  );
}

export function limitsText({ minMicros, maxMicros, currency }: PaymentMethodRow): string {
  return `${amountText(minMicros, currency)} to ${amountText(maxMicros, currency)}`;
}

export function feeText({ feePpm, feeFixedMicros, feePayer, currency }: PaymentMethodRow): string {
  if (feePpm === 0 && feeFixedMicros === 0) return "–";
  const fixed = feeFixedMicros === 0 ? "" : ` + ${amountText(feeFixedMicros, currency)}`;
  return `${discountPercent(feePpm)} %${fixed}, paid by ${feePayer === "operator" ? "you" : "the customer"}`;
}

export function bonusText(method: PaymentMethodRow): string {
  const steps = termsOf(method).bonusSteps.map(
    ({ fromMicros, ppm }) =>
      `${discountPercent(ppm)} % from ${amountText(fromMicros, method.currency)}`,
  );
  return steps.join(", ") || "–";
}

/** Turns a method on or off. One in test mode is turned on with a confirmation only: it credits money that nobody pays. */
export async function switchMethod(submission: Submission): Promise<Redirect> {
  const active = submission.form.choice("active", ["yes", "no"]) === "yes";
  const method = await submission.read((reader) => methodOf(reader, submission.params));
  const kind = kindOf(method);
  const { methodId } = method;
  if (active && kind.isTest?.(settingsOf(method))) {
    await submission.confirm({
      title: `Turn on ${methodId} in test mode`,
      moves: [],
      danger: true,
      isSensitive: true,
      details: (
        <p>
          Whoever pays by a test card of the provider gets real credit, and you get no money. Turn
          it off after your tests, or let one reseller of your own pay.
        </p>
      ),
    });
  }
  const known = knownSettings(kind);
  await submission.submit("updatePaymentMethod", { methodId, changes: { active }, known });
  const to = submission.form.isChecked("list") ? "/payment-methods" : methodPath(method);
  return { to, note: `${methodId} was turned ${active ? "on" : "off"}.` };
}
