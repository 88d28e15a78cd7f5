// One order: the reason for its state, the possible actions, and its history.

/** @jsxImportSource preact */

import type { Order } from "../../db/orders/orders.ts";
import { isTestOrder } from "../../domain/orders/sandbox.ts";
import { mayAct } from "../../domain/administrators/administrators.ts";
import { placementOf } from "../../domain/delivery/deliveries.ts";
import type { OperatorTarget } from "../../domain/orders/order-statuses.ts";
import { isLinkCorrectable } from "../../domain/orders/operator-orders.ts";
import { Refusal } from "../../domain/values/error-table.ts";
import type { Call } from "../server/call.ts";
import type { View } from "../../web/server/results.ts";
import { Field, Form } from "../../web/components/fields.tsx";
import { LinkCorrection, Resend } from "./order-resend.tsx";
import { LateDecision } from "./late-reports.tsx";
import { Settlement, Unrecognized } from "./order-settlement.tsx";
import { OrderFacts } from "./order-facts.tsx";
import { changesOf, HEADINGS, previewChange, VERBS } from "./order-change.ts";
import { OpenRequests, OrderSummary } from "./order-summary.tsx";
import { States } from "./order-list.tsx";
import { Badge, Money, moneyText, Time, Typed } from "../../web/components/shown.tsx";
import { readShownOrder, type ShownOrder } from "./shown-order.ts";

export async function orderPage(call: Call): Promise<View> {
  const shown = await call.read((reader) => readShownOrder(reader, call.params["order"]!));
  const { order, timeline } = shown;
  const mayChange = mayAct(call.visitor.administrator.role, "operator");
  return {
    title: `Order ${order.orderId}`,
    body: (
      <>
        <h1>
          Order {order.orderId}{" "}
          <States status={order.status} placement={placementOf(order.delivery)} />{" "}
          {isTestOrder(order) && <Badge state="test" />}
        </h1>
        <OrderSummary {...shown} />
        <OpenRequests {...shown} />
        {shown.unrecognized && (
          <Unrecognized found={shown.unrecognized} provider={shown.provider?.name ?? ""} />
        )}
        <div class="columns">
          <section class="card">
            <OrderFacts {...shown} />
          </section>
          {mayChange && (
            <section class="card first">
              <Changes {...shown} />
            </section>
          )}
        </div>
        <h2>What happened</h2>
        <ol class="timeline" id="timeline" data-refresh>
          <li>
            <Time at={order.createdAt} /> <strong>created</strong> by{" "}
            <Typed text={shown.username} />
          </li>
          {timeline.map((entry) => (
            <li>
              <Entry entry={entry} />
            </li>
          ))}
        </ol>
        <section class="card narrow-card">
          <Form action={`/orders/${order.orderId}/note`} submit="Add the note">
            <Field name="text" label="Note for other administrators" hint="callers never see it" />
          </Form>
        </section>
      </>
    ),
  };
}

/** Buttons for the possible changes in one form. Each names its refund, so that the confirmation shows nothing unexpected. */
function Changes(shown: ShownOrder) {
  const { order, late, isCorrectable } = shown;
  const changes = changesOf(order);
  const path = `/orders/${order.orderId}`;
  const isUnknown = order.status === "PENDING" && placementOf(order.delivery) === "unknown";
  const simple = changes.filter((to) => to !== "PARTIAL");
  return (
    <>
      {late && <LateDecision order={order} report={late} />}
      {(isUnknown || isCorrectable) && <Settlement order={order} isCorrection={isCorrectable} />}
      {simple.length > 0 && (
        <Form action={`${path}/change`}>
          <h2>{HEADINGS[order.status]}</h2>
          <Notes />
          <p class="actions">
            {simple.map((to) => (
              <button name="to" value={to} class={to === "COMPLETED" ? "primary" : undefined}>
                {VERBS[to]}
                {refundText(order, to)}
              </button>
            ))}
          </p>
        </Form>
      )}
      {order.status === "PROCESSING" && (
        <Form action={`${path}/progress`} submit="Save the progress">
          <h2>Progress</h2>
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
      )}
      {changes.includes("PARTIAL") && (
        <Form action={`${path}/partial`}>
          <h2>End early</h2>
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
      )}
      {isLinkCorrectable(order) && <LinkCorrection order={order} />}
      <Resend {...shown} />
      {changes.length === 0 && !isUnknown && !late && (
        <p>
          {order.status === "PENDING"
            ? "The order is being sent to its provider: it can be changed once that is done."
            : `${order.status} is final: the order can no longer be changed.`}
        </p>
      )}
    </>
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

/** Words for the entries of the timeline. The words of attempts are followed by the provider's name. */
const WORDS: Record<string, string> = {
  sending: "sent to",
  accepted: "accepted by",
  refused: "refused by",
  not_sent: "not sent to",
  unknown: "not known whether it arrived at",
  late: "reported after the end",
  cost: "cost",
  order: "charged",
  partial_refund: "refunded in part",
  refund: "refunded",
};

function Entry({ entry }: { entry: ShownOrder["timeline"][number] }) {
  const { at, what, from, to, by, note, provider, micros } = entry;
  return (
    <>
      <Time at={at} /> <strong>{what === "status" ? "" : (WORDS[what] ?? what)}</strong>{" "}
      {provider !== null && `${provider} `}
      {micros !== null && (
        <>
          <Money micros={micros} signed /> USD{" "}
        </>
      )}
      {what === "status" || what === "late" ? (
        <>
          <Badge state={from!} /> → <Badge state={to!} />{" "}
        </>
      ) : (
        (from !== null && `${from} → ${to} `) || (what === "request" && `${to} `)
      )}
      {by !== "" && (
        <small>
          by <Typed text={by} />
        </small>
      )}
      {note !== null && note !== "" && (
        <div>
          <Typed text={note} />
        </div>
      )}
    </>
  );
}
