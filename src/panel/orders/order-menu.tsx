// What can be done with an order: its primary action, and a menu of the others that opens one form at a time.

/** @jsxImportSource preact */

import type { ComponentChildren } from "preact";
import { useContext } from "preact/hooks";
import type { Order } from "../../db/orders/orders.ts";
import { placementOf } from "../../domain/delivery/deliveries.ts";
import { isLinkCorrectable } from "../../domain/orders/operator-orders.ts";
import type { OperatorTarget } from "../../domain/orders/order-statuses.ts";
import { Refusal } from "../../domain/values/error-table.ts";
import { Field, Form, Refused } from "../../web/components/fields.tsx";
import { moneyText, stateText } from "../../web/components/shown.tsx";
import { LateDecision } from "./late-reports.tsx";
import { Warnings } from "./order-cancellation.tsx";
import { changesOf, previewChange, VERBS } from "./order-change.ts";
import { LinkCorrection, Resend } from "./order-resend.tsx";
import { Settlement } from "./order-settlement.tsx";
import type { ShownOrder } from "./shown-order.ts";

/** The action that is expected next: a button in the head of the page, or null. */
export function PrimaryAction({ order }: Pick<ShownOrder, "order">) {
  const to = primaryOf(order);
  if (to === null) return null;
  return (
    <Form action={`/orders/${order.orderId}/change`} id="primary" hidden={{ to }}>
      <button class="primary">
        {VERBS[to]}
        {refundText(order, to)}
      </button>
    </Form>
  );
}

/** Completes what is delivered by hand, and refunds what has ended. */
function primaryOf(order: Order): OperatorTarget | null {
  const changes = changesOf(order);
  if (changes.includes("COMPLETED") && placementOf(order.delivery) === "manual") return "COMPLETED";
  return changes.includes("REFUNDED") ? "REFUNDED" : null;
}

/** Forms for a decision that the order waits for. */
export function Decision(shown: ShownOrder) {
  const { order, late, isCorrectable } = shown;
  const isUnknown = order.status === "PENDING" && placementOf(order.delivery) === "unknown";
  return (
    <>
      {late && <LateDecision order={order} report={late} />}
      {(isUnknown || isCorrectable) && <Settlement order={order} isCorrection={isCorrectable} />}
      <Resend {...shown} />
    </>
  );
}

/** The other actions. Opening one closes the one before. */
export function OrderMenu({ order, late, running }: ShownOrder) {
  const changes = changesOf(order);
  const path = `/orders/${order.orderId}`;
  const isUnknown = order.status === "PENDING" && placementOf(order.delivery) === "unknown";
  const others = changes.filter((to) => to !== "PARTIAL" && to !== primaryOf(order));
  const primary = primaryOf(order);
  return (
    <>
      <h2>Actions</h2>
      {others.map((to) => (
        <Change order={order} to={to} running={running} />
      ))}
      {primary === "REFUNDED" && (
        <Change order={order} to="REFUNDED" running={running} title="Refund with a note…" />
      )}
      {order.status === "PROCESSING" && (
        <Item title="Progress…" action={`${path}/progress`}>
          <Form action={`${path}/progress`} submit="Save the progress">
            <div class="pair">
              <Field
                name="start-count"
                label="Start count"
                inputmode="numeric"
                value={order.startCount}
              />
              <Field name="remains" label="Remains" inputmode="numeric" value={order.remains} />
            </div>
          </Form>
        </Item>
      )}
      {changes.includes("PARTIAL") && (
        <Item title="End early…" action={`${path}/partial`}>
          <Form action={`${path}/partial`}>
            <Warnings running={running} to="PARTIAL" />
            <Field
              name="remains"
              label="Not delivered"
              inputmode="numeric"
              required
              hint={`at most ${order.quantity}; the reseller gets back the same share of the charge`}
            />
            <Notes />
            <p class="actions">
              <button>End early and refund that part</button>
            </p>
          </Form>
        </Item>
      )}
      {isLinkCorrectable(order) && (
        <Item title="Correct the link…" action={`${path}/link`}>
          <LinkCorrection order={order} />
        </Item>
      )}
      {changes.length === 0 && !isUnknown && !late && (
        <p>
          {order.status === "PENDING"
            ? "The order is being sent to its provider: it can be changed once that is done."
            : `${stateText(order.status)} is final: the order can no longer be changed.`}
        </p>
      )}
    </>
  );
}

/** An action of the menu. A refused form is open. */
export function Item({
  title,
  action,
  open = false,
  children,
}: {
  title: string;
  /** Action of its form. */
  action: string;
  open?: boolean;
  children: ComponentChildren;
}) {
  const isRefused = useContext(Refused)?.action === action;
  // Preact's types lack the name, by which a browser keeps only one of them open.
  const exclusive = { name: "action" } as object;
  return (
    <details {...exclusive} open={open || isRefused}>
      <summary>{title}</summary>
      {children}
    </details>
  );
}

function Change({
  order,
  to,
  running,
  title = `${VERBS[to]}…`,
}: {
  order: Order;
  to: OperatorTarget;
  running: ShownOrder["running"];
  title?: string;
}) {
  const action = `/orders/${order.orderId}/change`;
  const sent = useContext(Refused);
  const isOpen = sent?.action === action && sent.form.raw("to") === to;
  return (
    <Item title={title} action={`${action} ${to}`} open={isOpen}>
      <Form action={action} id={to} hidden={{ to }}>
        <Warnings running={running} to={to} />
        <Notes />
        <p class="actions">
          <button class={to === "COMPLETED" ? "primary" : undefined}>
            {VERBS[to]}
            {refundText(order, to)}
          </button>
        </p>
      </Form>
    </Item>
  );
}

function Notes() {
  return (
    <div class="pair">
      <Field name="note" label="Note" hint="note for operators; the user never sees it" />
      <Field name="public-note" label="Note to the reseller" hint="shown with the refund" />
    </div>
  );
}

function refundText(order: Order, to: OperatorTarget): string {
  const change = previewChange(order, to);
  if (change instanceof Refusal || change.refundMicros === 0) return "";
  return to === "REFUNDED"
    ? ` ${moneyText(change.refundMicros)} USD`
    : `, refund ${moneyText(change.refundMicros)} USD`;
}
