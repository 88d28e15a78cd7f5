// One order: the reason for its state, the possible actions, and its history.

/** @jsxImportSource preact */

import { isTestOrder } from "../../domain/orders/sandbox.ts";
import { mayAct } from "../../domain/administrators/administrators.ts";
import { placementOf } from "../../domain/delivery/deliveries.ts";
import type { Call } from "../server/call.ts";
import type { View } from "../../web/server/results.ts";
import { Field, Form } from "../../web/components/fields.tsx";
import { PageHead } from "../../web/components/page-head.tsx";
import { Unrecognized } from "./order-settlement.tsx";
import { OrderFacts } from "./order-facts.tsx";
import { Decision, Item, OrderMenu, PrimaryAction } from "./order-menu.tsx";
import { OpenRequests, OrderSummary } from "./order-summary.tsx";
import { States } from "./order-list.tsx";
import { Badge, Money, StateChange, Time, Typed } from "../../web/components/shown.tsx";
import { failureText } from "../providers/call-failures.ts";
import { readShownOrder, type ShownOrder } from "./shown-order.ts";

export async function orderPage(call: Call): Promise<View> {
  const shown = await call.read((reader) => readShownOrder(reader, call.params["order"]!));
  const { order, timeline } = shown;
  const mayChange = mayAct(call.visitor.administrator.role, "operator");
  const path = `/orders/${order.orderId}`;
  return {
    title: `Order ${order.orderId}`,
    body: (
      <>
        <PageHead title={`Order ${order.orderId}`}>
          <States status={order.status} placement={placementOf(order.delivery)} />
          {isTestOrder(order) && <Badge state="test" />}
          <span class="end">{mayChange && <PrimaryAction order={order} />}</span>
        </PageHead>
        <OrderSummary {...shown} />
        <OpenRequests {...shown} />
        {shown.unrecognized && (
          <Unrecognized found={shown.unrecognized} provider={shown.provider?.name ?? ""} />
        )}
        <div class="columns">
          <section>
            {mayChange && <Decision {...shown} />}
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
          </section>
          <div>
            <section class="card">
              {mayChange ? <OrderMenu {...shown} /> : <h2>Actions</h2>}
              <Item title="Note…" action={`${path}/note`}>
                <Form action={`${path}/note`} submit="Add the note">
                  <Field
                    name="text"
                    label="Note for other administrators"
                    hint="callers never see it"
                  />
                </Form>
              </Item>
            </section>
            <section class="card narrow-card">
              <OrderFacts {...shown} />
            </section>
          </div>
        </div>
      </>
    ),
  };
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
  number: "number at the provider",
  link: "link changed",
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
          <StateChange from={from!} to={to!} />{" "}
        </>
      ) : (
        (from !== null && `${from} → ${to} `) || (what === "request" && `to ${to} `)
      )}
      {by !== "" && (
        <small>
          by <Typed text={by} />
        </small>
      )}
      {note !== null && note !== "" && (
        <div>
          <Typed text={failureText(note)} />
        </div>
      )}
    </>
  );
}
