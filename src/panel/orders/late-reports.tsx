// Decision about what a provider reported after an order's end: accept it with its refund, or dismiss it.

/** @jsxImportSource preact */

import { NOTE, COUNT } from "../../domain/values/kinds.ts";
import type { LateReport } from "../../db/orders/late-reports.ts";
import type { Order } from "../../db/orders/orders.ts";
import { usernameOf } from "../../db/users/users.ts";
import { decideLateReport, lateText } from "../../domain/orders/late-reports.ts";
import { attempt, Refusal } from "../../domain/values/error-table.ts";
import { previewLateReport } from "../../operations/orders/late-reports.ts";
import type { Submission } from "../server/call.ts";
import type { Redirect } from "../../web/server/results.ts";
import { Field, Form } from "../../web/components/fields.tsx";
import { moneyText, StateChange, stateWord } from "../../web/components/shown.tsx";

/** Form for the decision. `report`: the newest undecided report. */
export function LateDecision({ order, report }: { order: Order; report: LateReport }) {
  const decided = attempt(() => decideLateReport(order, report));
  const isRefused = decided instanceof Refusal;
  // The report came without the remaining quantity, so the form asks for it.
  const needsRemains = isRefused && decided.code === "late_remains_missing";
  return (
    <Form action={`/orders/${order.orderId}/late`}>
      <h2>Reported late: {lateText(report, stateWord)}</h2>
      {needsRemains && (
        <Field
          name="remains"
          label="Remaining quantity"
          inputmode="numeric"
          hint={`at most ${order.quantity}; not stored with this report: ask the provider`}
        />
      )}
      <Field name="note" label="Note" hint="only operators see it" />
      {(!isRefused || needsRemains) && (
        <Field name="public-note" label="Note to the reseller" hint="shown with the refund" />
      )}
      <p class="actions">
        {(!isRefused || needsRemains) && (
          <button class="primary" name="decision" value="accept">
            {isRefused
              ? "Accept and refund what remains"
              : `Accept, refund ${moneyText(decided.refundMicros)} USD`}
          </button>
        )}
        <button name="decision" value="dismiss">
          Dismiss: it stays {stateWord(order.status)}
        </button>
      </p>
    </Form>
  );
}

export async function decideLate(submission: Submission): Promise<Redirect> {
  const { form } = submission;
  const id = submission.params["order"]!;
  const to = `/orders/${id}`;
  const decision = form.choice("decision", ["accept", "dismiss"]);
  const note = form.optional("note", NOTE, "");
  const publicNote = form.optional("public-note", NOTE, "");
  const remains = form.optional("remains", COUNT, 0);
  form.check();
  if (decision === "dismiss") {
    await submission.submit("dismissLateReports", { id, note });
    return { to, note: "The late report was dismissed." };
  }
  const { order, report, transition, username } = await submission.read((reader) => {
    const preview = previewLateReport(reader, id, remains);
    return { ...preview, username: usernameOf(reader, preview.order.resellerAccount) };
  });
  const { refundMicros, status } = transition;
  const { reported } = report;
  await submission.confirm({
    title: `Accept the late ${stateWord(reported)} of order ${order.orderId}`,
    moves: refundMicros === 0 ? [] : [{ account: username, micros: refundMicros }],
    danger: true,
    details: (
      <p>
        <StateChange from={order.status} to={status} />
        {refundMicros === 0 && ": nothing is refunded"}
      </p>
    ),
  });
  const confirmed = { reported, refundMicros };
  await submission.submit("acceptLateReport", { id, remains, confirmed, note, publicNote });
  return {
    to,
    note: `Order ${order.orderId} is ${stateWord(status)}, ${moneyText(refundMicros)} USD refunded.`,
  };
}
