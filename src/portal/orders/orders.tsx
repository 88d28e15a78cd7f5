// Orders of the reseller, newest first.

/** @jsxImportSource preact */

import {
  countOrdersByStatus,
  EXAMINED_LIMIT,
  listOrdersBelow,
  type OrderListQuery,
} from "../../db/orders/order-lists.ts";
import {
  findOrderByReference,
  findPublicOrder,
  type OwnedPublicOrder,
} from "../../db/orders/public-orders.ts";
import type { Reader } from "../../db/port/port.ts";
import { orderedQuantity } from "../../domain/orders/order-fields.ts";
import { ORDER_CSV_HEADER, orderCells } from "../../domain/orders/order-members.ts";
import { ORDER_STATUSES, type OrderStatus } from "../../domain/orders/order-statuses.ts";
import { csvResponse } from "../../http/server/csv.ts";
import { Field, Filters } from "../../web/components/fields.tsx";
import { List, Pager } from "../../web/components/lists.tsx";
import { PageHead, type Tab, Tabs } from "../../web/components/page-head.tsx";
import { Typed, TypedLink } from "../../web/components/shown.tsx";
import { redirect } from "../../web/server/response.ts";
import type { View } from "../../web/server/results.ts";
import { Status, Time } from "../parts/shown.tsx";
import type { Call } from "../server/call.ts";
import type { Portal } from "../server/portal.ts";
import type { Visitor } from "../server/visitor.ts";
import { readFilters } from "./order-filters.ts";

const PAGE_SIZE = 50;
/** The tabs count up to this many orders of each status. */
const COUNTED = 1000;
/** Rows of one step of a CSV: about a millisecond of the event loop. */
const CSV_STEP = 200;

export async function ordersPage(call: Call, portal: Portal): Promise<View | Response> {
  const { visitor, filters } = call;
  const { t } = visitor;
  const query = readFilters(call);
  const { link } = query;
  if (link !== null) {
    const seconds = portal.limits.search(visitor.member.id);
    if (seconds > 0) filters.addError("q", t("field.tooOften", { count: seconds }));
  }
  const isSearch = link !== null && !filters.errors.has("q");
  const read = await call.read((reader) => ({
    counts: countOrdersByStatus(reader, visitor.account, COUNTED + 1),
    found: isSearch ? findOwnOrder(reader, visitor.account, link) : undefined,
  }));
  if (read.found) return redirect(`/orders/${read.found.orderId}`);
  const page = await findPage(call, { ...query, link: isSearch ? link : null }, portal);
  if (isSearch && page.rows.length === 0 && page.next === null) {
    filters.addError("q", t("orders.notFound"));
  }
  return {
    title: t("orders.title"),
    body: (
      <>
        <PageHead title={t("orders.title")}>
          <a href={`/orders.csv?${filters.values}`}>{t("site.csv")}</a>
          {visitor.may("order") && (
            <a class="button primary end" href="/new-order">
              {t("nav.newOrder")}
            </a>
          )}
        </PageHead>
        <Tabs label={t("orders.filters")} tabs={tabsOf(call, query.status, read.counts)} />
        <Filters action="/orders" filters={filters}>
          <Field name="q" label={t("orders.findLabel")} />
          <Field name="from" type="date" label={t("orders.from")} />
          <Field name="to" type="date" label={t("orders.to")} />
          {query.status !== null && <input type="hidden" name="status" value={query.status} />}
        </Filters>
        <OrderList visitor={visitor} rows={page.rows} />
        {page.examined !== null && (
          <p class="hint">{t("orders.searchedTo", { count: page.examined })}</p>
        )}
        <Pager call={call} next={page.next} />
      </>
    ),
  };
}

/**
 * Reads a page. A search examines a limited number of orders, in steps, so that other requests are handled in between.
 * `examined`: how many, if the page ends there; null: the page is full, or nothing follows.
 */
async function findPage(
  call: Call,
  query: OrderListQuery,
  { settings }: Portal,
): Promise<{ rows: OwnedPublicOrder[]; next: number | null; examined: number | null }> {
  const rows: OwnedPublicOrder[] = [];
  let below = call.filters.below();
  for (let examined = 0; examined < settings.searchOrders;) {
    const most = PAGE_SIZE - rows.length;
    const found = await call.read((reader) => listOrdersBelow(reader, query, below, most));
    rows.push(...found.rows);
    const { next } = found;
    if (next === null || rows.length === PAGE_SIZE) return { rows, next, examined: null };
    below = next;
    examined += EXAMINED_LIMIT;
    await new Promise(setImmediate);
  }
  return { rows, next: below, examined: settings.searchOrders };
}

function findOwnOrder(reader: Reader, account: number, wanted: string) {
  const order = findPublicOrder(reader, wanted) ?? findOrderByReference(reader, account, wanted);
  return order?.resellerAccount === account ? order : undefined;
}

function tabsOf(
  { visitor, filters }: Call,
  chosen: OrderStatus | null,
  counts: Record<OrderStatus, number>,
): Tab[] {
  const { t, formats } = visitor;
  const hrefOf = (status: OrderStatus | null) => {
    const changed = new URLSearchParams(filters.values);
    for (const name of ["status", "below", "earlier"]) changed.delete(name);
    if (status !== null) changed.set("status", status);
    return changed.size === 0 ? "/orders" : `/orders?${changed}`;
  };
  const countOf = (count: number) =>
    count > COUNTED ? `${formats.number(COUNTED)}+` : formats.number(count);
  const shown = ORDER_STATUSES.filter((status) => counts[status] > 0 || status === chosen);
  return [
    { text: t("orders.all"), href: hrefOf(null), isChosen: chosen === null },
    ...shown.map((status) => ({
      text: t(`status.${status}`),
      href: hrefOf(status),
      isChosen: status === chosen,
      count: countOf(counts[status]),
    })),
  ];
}

/** The filtered list as CSV, in the columns of the API. */
export async function ordersCsv(call: Call, portal: Portal): Promise<View | Response> {
  const query = readFilters(call);
  // Not a file with more than was asked for.
  if (call.filters.errors.size > 0) return ordersPage(call, portal);
  const read = async (below: number) => {
    const { rows, next } = await call.read((reader) =>
      listOrdersBelow(reader, query, below, CSV_STEP),
    );
    return { rows: rows.map(orderCells), next };
  };
  return csvResponse("orders.csv", ORDER_CSV_HEADER, Number.MAX_SAFE_INTEGER, read, (error) =>
    portal.log.error({ error: String(error) }, "the CSV file of orders was cut off"),
  );
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
      compact
      columns={[
        {
          heading: t("orders.number"),
          cell: ({ orderId }) => <a href={`/orders/${orderId}`}>{orderId}</a>,
        },
        {
          heading: t("orders.service"),
          cell: ({ orderId, serviceName }) => (
            <a href={`/orders/${orderId}`}>
              <Typed text={serviceName} />
            </a>
          ),
          title: ({ serviceName }) => serviceName,
          grow: true,
          place: "title",
        },
        {
          heading: t("orders.link"),
          cell: ({ link }) => <TypedLink text={link} short />,
          title: ({ link }) => link,
          grow: true,
          place: "first",
        },
        {
          heading: t("orders.quantity"),
          number: true,
          cell: (order) => formats.number(orderedQuantity(order)),
          wide: true,
        },
        {
          heading: t("orders.charge"),
          number: true,
          cell: ({ chargeMicros }) => formats.cents(chargeMicros),
          place: "end",
        },
        {
          heading: t("orders.status"),
          cell: ({ status }) => <Status status={status} visitor={visitor} />,
          place: "state",
        },
        {
          heading: t("orders.placed"),
          cell: ({ createdAt }) => <Time at={createdAt} visitor={visitor} />,
          place: "foot",
        },
      ]}
    />
  );
}
