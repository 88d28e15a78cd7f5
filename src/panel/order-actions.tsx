// What an administrator does to one order.

/** @jsxImportSource preact */

import { findOrder } from "../db/orders.ts";
import { usernameOf } from "../db/users.ts";
import { Refusal, refusal } from "../domain/refusals.ts";
import type { Redirect, Submission } from "./call.ts";
import { NOTE_LIMIT } from "./order.tsx";
import { previewChange, type Target, TARGETS, VERBS } from "./order-change.ts";
import { moneyText } from "./shown.tsx";

const COUNT_LIMIT = 999_999_999_999_999;

export function changeOrder(submission: Submission): Promise<Redirect> {
  const { form } = submission;
  const to = form.choice("to", TARGETS);
  return change(submission, to, 0);
}

export function endOrderEarly(submission: Submission): Promise<Redirect> {
  return change(submission, "PARTIAL", submission.form.whole("remains", 0, COUNT_LIMIT));
}

async function change(submission: Submission, to: Target, remains: number): Promise<Redirect> {
  const { form } = submission;
  const note = form.optionalText("note", NOTE_LIMIT);
  const publicNote = form.optionalText("public-note", NOTE_LIMIT);
  form.check();
  const { order, username } = await orderOf(submission);
  const preview = previewChange(order, to, remains);
  if (preview instanceof Refusal) throw preview;
  const { refundMicros } = preview;
  const title = `${VERBS[to]}: order ${order.orderId}`;
  // A completion moves no money and can be refunded later.
  if (to !== "COMPLETED") {
    await submission.confirm({
      title,
      moves: refundMicros === 0 ? [] : [{ account: username, micros: refundMicros }],
      danger: true,
      details: (
        <p>
          {order.status} → {preview.status}
          {refundMicros === 0 && ": nothing is refunded"}
        </p>
      ),
    });
  }
  const id = String(order.orderId);
  await submission.submit("transitionOrder", {
    id,
    to,
    remains,
    refundMicros,
    note,
    publicNote,
  });
  const refunded = refundMicros === 0 ? "" : `, ${moneyText(refundMicros)} USD refunded`;
  return {
    to: `/orders/${order.orderId}`,
    note: `Order ${order.orderId} is ${preview.status}${refunded}.`,
  };
}

export async function progressOrder(submission: Submission): Promise<Redirect> {
  const { form } = submission;
  const startCount = form.optionalWhole("start-count", 0, COUNT_LIMIT);
  const remains = form.optionalWhole("remains", 0, COUNT_LIMIT);
  if (startCount === null && remains === null) form.note("remains", "Give one of the two");
  const { order } = await orderOf(submission);
  const id = String(order.orderId);
  await submission.submit("progressOrder", { id, startCount, remains });
  return { to: `/orders/${id}`, note: "The progress was saved." };
}

export async function noteOrder(submission: Submission): Promise<Redirect> {
  const note = submission.form.text("text", NOTE_LIMIT);
  const { order } = await orderOf(submission);
  const id = String(order.orderId);
  await submission.submit("noteOrder", { id, note });
  return { to: `/orders/${id}`, note: "The note was added." };
}

function orderOf(submission: Submission) {
  return submission.read((reader) => {
    const order = findOrder(reader, submission.params["order"]!);
    if (!order) throw refusal("order_not_found");
    return { order, username: usernameOf(reader, order.resellerAccount) };
  });
}
