// The page of the guide about orders: states, types of services, cancelling and refilling.

/** @jsxImportSource preact */

import { meaningOf, ORDER_STATUSES } from "../../domain/orders/order-statuses.ts";
import { lateTransitionsFrom, transitionsFrom } from "../../domain/orders/order-transitions.ts";
import { Prose, Table } from "../page/parts.tsx";
import { TYPE_ROWS } from "../schemas/order-fields-by-type.ts";
import type { GuidePage } from "./guide.ts";

function Placing() {
  return (
    <>
      <p>
        <Prose text="[Placing an order](/docs/reference/place-order) charges your balance and creates the order; either both happen or neither. If a provider delivers it, the answer to your call waits some seconds for the provider's answer. An order that the provider has not confirmed by then is PENDING, and is delivered without another call." />
      </p>
      <p>
        <Prose text="A 502 `provider_refused` also creates an order: it is FAILED, and the charge is back on your balance." />
      </p>
      <p>
        <Prose text="Follow an order by [reading it](/docs/reference/get-order), many at once by [`ids`](/docs/reference/list-orders), or by [webhooks](/docs/webhooks). For the list of services, follow the [changes](/docs/reference/list-service-changes) instead of reading it whole." />
      </p>
    </>
  );
}

function States() {
  return (
    <>
      <p>
        An order begins as PENDING when a provider delivers it, as PROCESSING when your operator
        does. A refund goes to your balance in the same moment as the change of state. A COMPLETED
        order becomes PARTIAL in one case: its provider reports later that a part was not delivered,
        and your operator accepts that.
      </p>
      <Table
        headings={["State", "Meaning", "Can become"]}
        rows={ORDER_STATUSES.map((status) => [
          <code>{status}</code>,
          <>{meaningOf(status)}</>,
          <>
            {[...new Set([...transitionsFrom(status), ...lateTransitionsFrom(status)])].join(
              ", ",
            ) || "final"}
          </>,
        ])}
      />
    </>
  );
}

function Types() {
  return (
    <>
      <p>
        <Prose text="The type of a service, which `GET /services?fields=all` shows, says what an order needs besides `service` and `link`. Lines are separated by line breaks, and empty lines do not count. If the lines are the quantity, their number must be between `min` and `max`. `runs` repeats an order of a service with a drip-feed every `interval` minutes, and the charge is for all runs." />
      </p>
      <Table
        headings={["Type", "Fields", "Charged"]}
        rows={TYPE_ROWS.map(({ type, fields, charged }) => [
          <code>{type}</code>,
          <>{fields.join(", ") || "–"}</>,
          <>{charged}</>,
        ])}
      />
    </>
  );
}

function Requests() {
  return (
    <p>
      <Prose text="Ask to [cancel](/docs/reference/cancel-order) or to [refill](/docs/reference/refill-order) an order; the service must allow it. A request moves no money: only a change of the order's status does. [List the requests](/docs/reference/list-order-requests) of an order, or read its status, to see how they ended." />
    </p>
  );
}

export const ORDERS: GuidePage = {
  path: "/docs/orders",
  title: "Life of an order",
  lead: "What happens to an order and to your money, from the call to the end.",
  sections: [
    {
      id: "placing",
      title: "Placing and following",
      about: "Charge, PENDING, provider_refused, polling or webhooks",
      Body: Placing,
    },
    {
      id: "states",
      title: "States",
      about: `${ORDER_STATUSES.join(", ")}; transitions and refunds`,
      Body: States,
    },
    {
      id: "types",
      title: "Types of services",
      about: "Fields that an order needs: comments, keywords, usernames, drip-feed, packages",
      Body: Types,
    },
    {
      id: "requests",
      title: "Cancelling and refilling",
      about: "Cancel, refund, refill, requests for an order",
      Body: Requests,
    },
  ],
};
