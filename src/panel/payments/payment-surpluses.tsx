// Money of a payment that is not credited, on the payment's page, and the operator's decision.

/** @jsxImportSource preact */

import { listSurpluses } from "../../db/payments/payment-surpluses.ts";
import type { PaymentSurplus } from "../../db/tables/payments.ts";
import { findUserByAccount } from "../../db/users/users.ts";
import { mayAct } from "../../domain/administrators/administrators.ts";
import {
  isOpenSurplus,
  SURPLUS_ADVICE,
  surplusText,
} from "../../domain/payments/payment-surpluses.ts";
import { NOTE } from "../../domain/values/kinds.ts";
import { Field, Form } from "../../web/components/fields.tsx";
import { Money, moneyText } from "../../web/components/shown.tsx";
import { confirmationFields } from "../../web/server/confirmation.tsx";
import type { Redirect } from "../../web/server/results.ts";
import type { Call, Submission } from "../server/call.ts";
import { idIn, requirePayment } from "./shown-payment.ts";

/** What there is to decide on, then what is decided. */
export function Surpluses({ surpluses }: { surpluses: readonly PaymentSurplus[] }) {
  const open = surpluses.filter(isOpenSurplus);
  const ended = surpluses.filter((each) => !isOpenSurplus(each));
  return (
    <>
      {open.map((each) => (
        <p class="notice bad">
          Not credited: {surplusText(each)}. What to do: {SURPLUS_ADVICE[each.cause]}.
        </p>
      ))}
      {ended.map((each) => (
        <p class="hint">
          {each.settledAt === null ? "Given back" : "Decided"}: {surplusText(each)}.
        </p>
      ))}
    </>
  );
}

/** The form of the decision, for owners. */
export function SurplusDecision({
  call,
  id,
  surpluses,
  now,
}: {
  call: Call;
  id: string;
  surpluses: readonly PaymentSurplus[];
  now: number;
}) {
  if (!surpluses.some(isOpenSurplus)) return null;
  if (!mayAct(call.visitor.administrator.role, "owner")) return null;
  return (
    <section class="card narrow-card" id="surplus">
      <Form action={`/payments/${id}/surplus`} hidden={confirmationFields(now)} submit="Decide">
        <h2>Money not credited</h2>
        <Field
          name="credit"
          label="Credit in USD"
          inputmode="decimal"
          hint="0: nothing, because you gave it back or it is credited already"
          required
        />
        <Field name="public-note" label="Note to the user" hint="the user can read it" />
      </Form>
    </section>
  );
}

export async function settleSurplus(submission: Submission): Promise<Redirect> {
  const { form } = submission;
  const id = idIn(submission);
  const creditMicros = form.price("credit");
  const publicNote = form.optional("public-note", NOTE, "");
  form.check();
  const { username, balanceMicros, surpluses } = await submission.read((reader) => {
    const { account, paymentId, username: name } = requirePayment(reader, id);
    return {
      username: name,
      balanceMicros: findUserByAccount(reader, account)!.balanceMicros,
      surpluses: listSurpluses(reader, paymentId),
    };
  });
  await submission.confirm({
    title: `Credit ${username} for a surplus of a payment`,
    moves: [{ account: username, micros: creditMicros }],
    details: (
      <>
        {surpluses.filter(isOpenSurplus).map((each) => (
          <p>{surplusText(each)}</p>
        ))}
        <p>
          Balance: <Money micros={balanceMicros} /> →{" "}
          <Money micros={balanceMicros + BigInt(creditMicros)} /> USD
        </p>
      </>
    ),
    // The decision is on all that are open, so none may come or go unseen. Deciding changes none of these texts.
    plan: surpluses.map(surplusText),
  });
  await submission.submit("settleSurplus", { id, creditMicros, publicNote });
  return {
    to: `/payments/${id}`,
    note: `${username} was credited ${moneyText(creditMicros)} USD.`,
  };
}
