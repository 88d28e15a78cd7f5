// One way to pay: what it offers, what is not right with it, its terms, and its end.

/** @jsxImportSource preact */

import { mayAct } from "../../domain/administrators/administrators.ts";
import { countFollowedOfMethod } from "../../db/payments/payment-methods.ts";
import { counted } from "../../domain/values/text.ts";
import { knownSettings, problemsOf } from "../../payments/method-settings.ts";
import { kindOf } from "../../payments/methods.ts";
import { METHOD_DAYS, type MethodMoney, readMethodMoney } from "../../reports/method-money.ts";
import { Form } from "../../web/components/fields.tsx";
import { Facts } from "../../web/components/lists.tsx";
import { PageHead } from "../../web/components/page-head.tsx";
import { centsText, Time, Typed } from "../../web/components/shown.tsx";
import type { Redirect, View } from "../../web/server/results.ts";
import type { Call, Submission } from "../server/call.ts";
import type { Panel } from "../server/panel.ts";
import { Notices, Secrets } from "./method-secrets.tsx";
import {
  Examples,
  hasLargeBonus,
  readResellers,
  readTermsFields,
  TermsFields,
  TermsToConfirm,
  textFacts,
} from "./method-terms.tsx";
import { kindWords } from "./new-payment-method.tsx";
import { bonusText, feeText, limitsText, MethodState, MethodSwitch } from "./payment-methods.tsx";
import { methodOf, methodPath, requireShownMethod, type ShownMethod } from "./shown-method.ts";

export async function methodPage(call: Call, panel: Panel): Promise<View> {
  const shown = await call.read((reader) => requireShownMethod(reader, call.params));
  const money = await readMethodMoney(panel.store, panel.now());
  const { method } = shown;
  const { methodId } = method;
  const { role, name } = call.visitor.administrator;
  const mayChange = mayAct(role, "owner");
  const provesAs = call.visitor.hasProved(panel.now()) ? null : name;
  return {
    title: `Way to pay ${methodId}`,
    body: (
      <>
        <PageHead
          title={
            <>
              {methodId} <MethodState method={method} />
            </>
          }
        >
          {mayChange && (
            <span class="inline end">
              <MethodSwitch method={method} />
            </span>
          )}
        </PageHead>
        {problemsOf(kindOf(method), method).map((problem) => (
          <p class="notice busy">{problem}</p>
        ))}
        <div class="columns">
          <div>
            <section class="card">
              <MethodFacts {...shown} money={money.get(methodId)} />
            </section>
            <section class="card">
              <Examples method={method} />
            </section>
            <Notices method={method} url={panel.portal.noticesUrl()} />
            {mayChange && <Secrets method={method} provesAs={provesAs} />}
          </div>
          {mayChange && <Terms {...shown} />}
        </div>
        <p class="actions">
          <a href="/payment-methods">Ways to pay</a>
          <a href={`/payments?method=${methodId}`}>Its payments</a>
          <a href={`/audit?subject=${methodId}`}>Changes in the audit log</a>
        </p>
      </>
    ),
  };
}

function MethodFacts({
  method,
  resellers,
  money,
}: ShownMethod & { money: MethodMoney | undefined }) {
  return (
    <Facts
      facts={[
        ["Kind", kindWords(kindOf(method))],
        ["Amounts", limitsText(method)],
        ["Fee", feeText(method)],
        ["Bonus", bonusText(method)],
        [
          `Credited in ${METHOD_DAYS} days`,
          money ? `${centsText(money.micros)} USD, ${counted(money.payments, "payment")}` : "–",
        ],
        ["For", resellers === null ? "all resellers" : <Typed text={resellers.join(", ")} />],
        ...textFacts(method),
        ["Added (UTC)", <Time at={method.createdAt} />],
      ]}
    />
  );
}

function Terms({ method, resellers }: ShownMethod) {
  const action = `${methodPath(method)}/terms`;
  return (
    <section class="card">
      <Form action={action} submit="Save" hidden={{ version: versionOf({ method, resellers }) }}>
        <h2>Change it</h2>
        <p class="hint">Payments keep the terms under which they were asked for.</p>
        <TermsFields kind={kindOf(method)} shown={{ method, resellers }} action={action} />
      </Form>
      <Form action={`${methodPath(method)}/remove`}>
        <p class="actions">
          <button class="danger">Remove it</button>
        </p>
      </Form>
    </section>
  );
}

/** Changes whenever something does that the form would overwrite. */
function versionOf({ method, resellers }: ShownMethod): string {
  const { active: _, noticedAt: __, ...others } = method;
  return Bun.SHA256.hash(JSON.stringify([others, resellers]), "hex").slice(0, 16);
}

export async function updateMethod(submission: Submission): Promise<Redirect> {
  const { form } = submission;
  const shown = await submission.read((reader) => requireShownMethod(reader, submission.params));
  const { method } = shown;
  const { methodId, currency } = method;
  const kind = kindOf(method);
  const changes = readTermsFields(form, kind, currency);
  const resellers = readResellers(form);
  if (form.values.has("version") && form.raw("version") !== versionOf(shown)) {
    form.addError("", "Someone changed it meanwhile. Compare what you typed with what it is now");
  }
  form.check();
  // Whoever changes the text says where customers send their money.
  const plan = { methodId, changes, resellers };
  await submission.confirm({
    title: `Change how customers pay by ${methodId}`,
    moves: [],
    danger: hasLargeBonus({ ...changes, currency }),
    details: <TermsToConfirm terms={changes} currency={currency} resellers={resellers} />,
    isSensitive: true,
    plan,
  });
  await submission.submit("updatePaymentMethod", { ...plan, known: knownSettings(kind) });
  return { to: methodPath(method), note: `${methodId} was changed.` };
}

export async function removeMethod(submission: Submission): Promise<Redirect> {
  const { methodId, followed } = await submission.read((reader) => {
    const { methodId: id } = methodOf(reader, submission.params);
    return { methodId: id, followed: countFollowedOfMethod(reader, id) };
  });
  await submission.confirm({
    title: `Remove the way to pay ${methodId}`,
    moves: [],
    danger: true,
    details: (
      <>
        <p>Its secrets are deleted, and its id is never used again. Its payments stay.</p>
        {followed > 0 && (
          <p>
            {counted(followed, "payment")} would not be read any more, so late money, refunds and
            disputes would not be seen. Turned off, it is read on.
          </p>
        )}
      </>
    ),
  });
  await submission.submit("removePaymentMethod", { methodId, unread: true });
  return { to: "/payment-methods", note: `${methodId} was removed.` };
}
