// The actions of an administrator on one order.

/** @jsxImportSource preact */

import { COUNT, NOTE } from "../../domain/values/kinds.ts";
import { findOrder } from "../../db/orders/orders.ts";
import { usernameOf } from "../../db/users/users.ts";
import { refusal } from "../../domain/values/error-table.ts";
import { findRunning } from "../../operations/orders/order-cancellation.ts";
import { decideOperatorTransition } from "../../operations/orders/orders.ts";
import type { Submission } from "../server/call.ts";
import type { Panel } from "../server/panel.ts";
import type { Redirect } from "../../web/server/results.ts";
import { FormError } from "../../web/server/form.ts";
import { askToCancel, Running } from "./order-cancellation.tsx";
import type { OperatorTarget } from "../../domain/orders/order-statuses.ts";
import { TARGETS, VERBS } from "./order-change.ts";
import { moneyText, StateChange, stateWord } from "../../web/components/shown.tsx";

export function changeOrder(submission: Submission, panel: Panel): Promise<Redirect> {
  const { form } = submission;
  const to = form.choice("to", TARGETS);
  return change(submission, panel, to, 0);
}

export function endOrderEarly(submission: Submission, panel: Panel): Promise<Redirect> {
  const remains = submission.form.required("remains", COUNT, 0);
  return change(submission, panel, "PARTIAL", remains);
}

async function change(
  submission: Submission,
  panel: Panel,
  to: OperatorTarget,
  remains: number,
): Promise<Redirect> {
  const { form } = submission;
  const note = form.optional("note", NOTE, "");
  const publicNote = form.optional("public-note", NOTE, "");
  form.check();
  const { order, username, running } = await readOrder(submission);
  // Checks first for every possible refusal, because a request to the provider cannot be undone.
  const preview = decideOperatorTransition(order, { to, remains, publicNote });
  const { refundMicros } = preview;
  const title = `${VERBS[to]}: order ${order.orderId}`;
  // Completing an order moves no money, and the order can be refunded later, so no confirmation is needed.
  if (to !== "COMPLETED") {
    await submission.confirm({
      title,
      moves: refundMicros === 0 ? [] : [{ account: username, micros: refundMicros }],
      danger: true,
      details: (
        <>
          <p>
            <StateChange from={order.status} to={preview.status} />
            {refundMicros === 0 && ": nothing is refunded"}
          </p>
          {running && <Running running={[running]} to={to} />}
        </>
      ),
    });
  }
  const { link } = order;
  const asked = await askToCancel(submission, panel, { running, to, link }, note);
  if ("refused" in asked) throw failed(submission, asked.refused);
  const id = String(order.orderId);
  const notes = { note: asked.note, publicNote };
  await submission.submit("transitionOrder", { id, to, remains, refundMicros, ...notes });
  const refunded = refundMicros === 0 ? "" : `, ${moneyText(refundMicros)} USD refunded`;
  return {
    to: `/orders/${order.orderId}`,
    note: `Order ${order.orderId} is ${stateWord(preview.status)}${refunded}.`,
  };
}

export async function progressOrder(submission: Submission): Promise<Redirect> {
  const { form } = submission;
  const startCount = form.optional("start-count", COUNT, 0);
  const remains = form.optional("remains", COUNT, 0);
  if (startCount === null && remains === null)
    form.addError("remains", "Enter a start count or what remains");
  const { order } = await readOrder(submission);
  const id = String(order.orderId);
  await submission.submit("progressOrder", { id, startCount, remains });
  return { to: `/orders/${id}`, note: "The progress was saved." };
}

export async function noteOrder(submission: Submission): Promise<Redirect> {
  const note = submission.form.required("text", NOTE, "");
  const { order } = await readOrder(submission);
  const id = String(order.orderId);
  await submission.submit("noteOrder", { id, note });
  return { to: `/orders/${id}`, note: "The note was added." };
}

function failed({ form }: Submission, why: string): FormError {
  form.addError("", why);
  return new FormError(why);
}

function readOrder(submission: Submission) {
  return submission.read((reader) => {
    const order = findOrder(reader, submission.params["order"]!);
    if (!order) throw refusal("order_not_found");
    const username = usernameOf(reader, order.resellerAccount);
    return { order, username, running: findRunning(reader, order) };
  });
}
