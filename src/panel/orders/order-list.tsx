// The list of orders: one line for each order, and on a phone a card of two lines.

/** @jsxImportSource preact */

import type { LateReport } from "../../db/orders/late-reports.ts";
import type { ListedOrder } from "../../db/orders/orders.ts";
import { placementOf } from "../../domain/delivery/deliveries.ts";
import { lateText } from "../../domain/orders/late-reports.ts";
import { showHidden } from "../../domain/values/text.ts";
import { RowBox } from "../../web/components/bulk.tsx";
import { List } from "../../web/components/lists.tsx";
import { NeverPlaced } from "./order-settlement.tsx";
import { Badge, Cents, stateText, Time, Typed, TypedLink } from "../../web/components/shown.tsx";

/** Id of the form for the ticked orders. The boxes in the rows belong to it. */
export const TICKED = "orders-change";

export function OrderList({
  rows,
  names,
  late,
  mayChange,
  isSettling,
  empty,
}: {
  rows: readonly ListedOrder[];
  /** Names of providers by id. */
  names: ReadonlyMap<number, string>;
  /** The late reports, if the list is filtered by them. */
  late: ReadonlyMap<number, LateReport> | null;
  mayChange: boolean;
  /** Whether the list is of unknown orders, which can be refunded in their rows. */
  isSettling: boolean;
  empty: string;
}) {
  const select = {
    heading: "Select",
    place: "box" as const,
    cell: ({ orderId, chargeMicros }: ListedOrder) => (
      <RowBox
        name="order"
        value={orderId}
        micros={chargeMicros}
        label={`Select order ${orderId}`}
        form={TICKED}
      />
    ),
  };
  const reported = {
    heading: "Reported late",
    cell: ({ orderId }: ListedOrder) =>
      late?.has(orderId) && lateText(late.get(orderId)!, stateText),
  };
  const settle = {
    heading: "If it was never placed",
    place: "third" as const,
    cell: (order: ListedOrder) => <NeverPlaced order={order} />,
  };
  return (
    <List
      caption="Orders, newest first"
      compact
      rows={rows}
      empty={empty}
      columns={[
        ...(mayChange ? [select] : []),
        {
          heading: "Order",
          place: "first",
          cell: ({ orderId }) => <a href={`/orders/${orderId}`}>{orderId}</a>,
        },
        {
          heading: "Status",
          place: "state",
          cell: ({ status, delivery }) => (
            <States status={status} placement={placementOf(delivery)} />
          ),
        },
        ...(late ? [reported] : []),
        ...(mayChange && isSettling ? [settle] : []),
        {
          heading: "Reseller",
          place: "second",
          cell: ({ username }) => <a href={`/users/${username}`}>{username}</a>,
        },
        {
          heading: "Service",
          grow: true,
          place: "title",
          title: ({ serviceName, serviceId }) => showHidden(`${serviceName} (${serviceId})`),
          cell: ({ serviceName }) => <Typed text={serviceName} />,
        },
        {
          heading: "Link",
          grow: true,
          title: ({ link }) => showHidden(link),
          cell: ({ link }) => <TypedLink text={link} short />,
        },
        { heading: "Quantity", number: true, cell: ({ quantity }) => quantity },
        {
          heading: "Charge USD",
          number: true,
          place: "end",
          cell: ({ chargeMicros }) => <Cents micros={chargeMicros} />,
        },
        { heading: "Remains", number: true, widest: true, cell: ({ remains }) => remains },
        {
          heading: "Provider",
          wide: true,
          cell: ({ delivery }) =>
            delivery
              ? `${delivery.providerOrder ?? ""} ${names.get(delivery.providerId) ?? "test"}`.trim()
              : "by hand",
        },
        {
          heading: "Created (UTC)",
          ...(isSettling ? {} : { place: "third" as const }),
          cell: ({ createdAt }) => <Time at={createdAt} short />,
        },
      ]}
    />
  );
}

/** The status, and for a PENDING order with a provider its delivery state. */
export function States({ status, placement }: { status: string; placement: string }) {
  const isShown = status === "PENDING" && placement !== "manual";
  return (
    <>
      <Badge state={status} />
      {isShown && (
        <>
          {" "}
          <Badge state={placement} />
        </>
      )}
    </>
  );
}
