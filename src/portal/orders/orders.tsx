// Orders of the reseller, newest first.

/** @jsxImportSource preact */

import { listOrdersBelow } from "../../db/orders/order-lists.ts";
import type { OwnedPublicOrder } from "../../db/orders/public-orders.ts";
import { ORDER_STATUSES } from "../../domain/orders/order-statuses.ts";
import { orderedQuantity } from "../../domain/orders/order-fields.ts";
import { List, Pager } from "../../web/components/lists.tsx";
import { Typed, TypedLink } from "../../web/components/shown.tsx";
import type { View } from "../../web/server/results.ts";
import { Status, Time } from "../parts/shown.tsx";
import type { Call } from "../server/call.ts";
import type { Visitor } from "../server/visitor.ts";

const PAGE_SIZE = 50;

export async function ordersPage(call: Call): Promise<View> {
  const { visitor, filters } = call;
  const { t } = visitor;
  const status = filters.optionalChoice("status", ORDER_STATUSES);
  const query = {
    resellerAccount: visitor.account,
    status,
    service: null,
    window: { from: null, to: null },
  };
  const page = await call.read((reader) =>
    listOrdersBelow(reader, query, filters.below(), PAGE_SIZE),
  );
  return {
    title: t("orders.title"),
    body: (
      <>
        <h1>{t("orders.title")}</h1>
        <OrderList visitor={visitor} rows={page.rows} />
        <Pager call={call} next={page.next} />
      </>
    ),
  };
}

export function OrderList({
  visitor,
  rows,
}: {
  visitor: Visitor;
  rows: readonly OwnedPublicOrder[];
}) {
  const { t, formats } = visitor;
  return (
    <List
      caption={t("orders.title")}
      rows={rows}
      empty={t("orders.empty")}
      columns={[
        {
          heading: t("orders.number"),
          cell: ({ orderId }) => <a href={`/orders/${orderId}`}>{orderId}</a>,
        },
        { heading: t("orders.service"), cell: ({ serviceName }) => <Typed text={serviceName} /> },
        { heading: t("orders.link"), cell: ({ link }) => <TypedLink text={link} short /> },
        {
          heading: t("orders.quantity"),
          number: true,
          cell: (order) => formats.number(orderedQuantity(order)),
        },
        {
          heading: t("orders.charge"),
          number: true,
          cell: ({ chargeMicros }) => formats.cents(chargeMicros),
        },
        {
          heading: t("orders.status"),
          cell: ({ status }) => <Status status={status} visitor={visitor} />,
        },
        {
          heading: t("orders.placed"),
          cell: ({ createdAt }) => <Time at={createdAt} visitor={visitor} />,
        },
      ]}
    />
  );
}
