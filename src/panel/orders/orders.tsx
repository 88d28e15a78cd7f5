// Orders: the list of all resellers' orders, and changes of several orders at once.

/** @jsxImportSource preact */

import { lastLateReports, type LateReport } from "../../db/orders/late-reports.ts";
import { listOperatorOrders } from "../../db/orders/operator-orders.ts";
import { findOrder, type ListedOrder } from "../../db/orders/orders.ts";
import { namesOfProviders } from "../../db/providers/providers.ts";
import { listServicesAfter } from "../../db/catalogue/service-lists.ts";
import { usernameOf } from "../../db/users/users.ts";
import { mayAct } from "../../domain/administrators/administrators.ts";
import { PLACEMENTS, placementOf } from "../../domain/delivery/deliveries.ts";
import { lateText } from "../../domain/orders/late-reports.ts";
import { ORDER_STATUSES } from "../../domain/orders/order-statuses.ts";
import { Refusal } from "../../domain/values/error-table.ts";
import { counted, showHidden } from "../../domain/values/text.ts";
import { findRunning, type RunningDelivery } from "../../operations/orders/order-cancellation.ts";
import type { Call, Submission } from "../server/call.ts";
import { forEachAtOnce, selectedIds } from "../server/many.ts";
import type { Panel } from "../server/panel.ts";
import type { Redirect, View } from "../../web/server/results.ts";
import { Box, Choice, Field, Filters, Form } from "../../web/components/fields.tsx";
import { FormError } from "../../web/server/form.ts";
import { List, Pager } from "../../web/components/lists.tsx";
import { askToCancel, Running } from "./order-cancellation.tsx";
import { previewChange, VERBS } from "./order-change.ts";
import { readOrderFilter } from "./order-filters.ts";
import { shownRefusal } from "../../web/server/refusals.ts";
import { Badge, Cents, Money, Time, Typed, TypedLink } from "../../web/components/shown.tsx";

const PAGE = 50;
/** Limit for services that the filter offers by name. With more services it is a field for the id. */
const OFFERED_LIMIT = 200;
/** Changes that can be made to several orders at once. */
const TOGETHER = ["COMPLETED", "CANCELLED", "REFUNDED"] as const;

export async function ordersPage(call: Call): Promise<View> {
  const { filters } = call;
  const { rows, next, names, services, late } = await call.read((reader) => {
    const filter = readOrderFilter(filters, reader);
    const page = filter
      ? listOperatorOrders(reader, filter, filters.below(), PAGE)
      : { rows: [], next: null };
    return {
      ...page,
      names: namesOfProviders(reader),
      late: filter?.late
        ? lastLateReports(
            reader,
            page.rows.map(({ orderId }) => orderId),
          )
        : null,
      services: listServicesAfter(reader, {}, null, OFFERED_LIMIT),
    };
  });
  const mayChange = mayAct(call.visitor.administrator.role, "operator");
  const query = new URLSearchParams(filters.values);
  query.delete("below");
  const list = (
    <div id="orders" data-refresh>
      <List
        caption="Orders, newest first"
        compact
        rows={rows}
        empty={
          next === null ? "No matching orders." : "No matches so far: continue with older orders."
        }
        columns={columnsOf(names, mayChange, late)}
      />
    </div>
  );
  return {
    title: "Orders",
    body: (
      <>
        <h1>Orders</h1>
        <Filters action="/orders" filters={filters}>
          <Field name="ids" label="Numbers or ids" />
          <Choice name="status" label="Status" options={ORDER_STATUSES} any="any" />
          <Field name="user" label="User" />
          {services.next === null ? (
            <Choice
              name="service"
              label="Service"
              any="any"
              options={services.rows.map(({ id, name }) => [id, name])}
            />
          ) : (
            <Field name="service" label="Service id" />
          )}
          {names.size > 0 && (
            <Choice name="provider" label="Provider" any="any" options={[...names.values()]} />
          )}
          <Field name="link" label="Link contains" />
          <Field name="from" label="From" type="date" />
          <Field name="to" label="To" type="date" />
          <details class="more" open={hasRare(call)}>
            <summary>More filters</summary>
            <div class="filters">
              <Choice name="placement" label="Placement" options={PLACEMENTS} any="any" />
              <Field name="reference" label="Reference" />
              <Field name="provider-order" label="Number at the provider" />
              <Box name="late" label="only orders with a change reported after their end" />
              <Box name="test" label="only test orders, which are listed nowhere else" />
            </div>
          </details>
        </Filters>
        {mayChange && rows.length > 0 ? (
          <Form action="/orders/change" hidden={{ query: String(query) }}>
            <div class="together">
              <span class="box" hidden>
                <input type="checkbox" id="all-orders" data-all="order" />
                <label for="all-orders">All on this page</label>
              </span>
              <span>Selected orders:</span>
              {TOGETHER.map((to) => (
                <button name="to" value={to}>
                  {VERBS[to]}
                </button>
              ))}
              <a class="end" href={`/orders.csv?${query}`}>
                CSV of this list
              </a>
            </div>
            {list}
          </Form>
        ) : (
          list
        )}
        <Pager call={call} next={next} />
      </>
    ),
  };
}

/** Returns whether a rare filter is set; those fields are otherwise folded. */
function hasRare({ filters }: Call): boolean {
  return ["placement", "reference", "provider-order", "late", "test"].some(
    (name) => filters.raw(name) !== "",
  );
}

/** Returns the columns. `late`: the late reports, if the list is filtered by them. */
function columnsOf(
  names: Map<number, string>,
  mayChange: boolean,
  late: ReadonlyMap<number, LateReport> | null,
) {
  const reported = {
    heading: "Reported late",
    cell: ({ orderId }: ListedOrder) => late?.has(orderId) && lateText(late.get(orderId)!),
  };
  const select = {
    heading: "Select",
    cell: ({ orderId }: ListedOrder) => (
      <input type="checkbox" name="order" value={orderId} aria-label={`Select order ${orderId}`} />
    ),
  };
  return [
    ...(mayChange ? [select] : []),
    {
      heading: "Order",
      cell: ({ orderId }: ListedOrder) => <a href={`/orders/${orderId}`}>{orderId}</a>,
    },
    {
      heading: "Status",
      cell: ({ status, delivery }: ListedOrder) => (
        <States status={status} placement={placementOf(delivery)} />
      ),
    },
    ...(late ? [reported] : []),
    {
      heading: "User",
      cell: ({ username }: ListedOrder) => <a href={`/users/${username}`}>{username}</a>,
    },
    {
      heading: "Service",
      grow: true,
      title: ({ serviceName, serviceId }: ListedOrder) =>
        showHidden(`${serviceName} (${serviceId})`),
      cell: ({ serviceName }: ListedOrder) => <Typed text={serviceName} />,
    },
    {
      heading: "Link",
      grow: true,
      title: ({ link }: ListedOrder) => showHidden(link),
      cell: ({ link }: ListedOrder) => <TypedLink text={link} short />,
    },
    { heading: "Quantity", number: true, cell: ({ quantity }: ListedOrder) => quantity },
    {
      heading: "Charge USD",
      number: true,
      cell: ({ chargeMicros }: ListedOrder) => <Cents micros={chargeMicros} />,
    },
    { heading: "Remains", number: true, wide: true, cell: ({ remains }: ListedOrder) => remains },
    {
      heading: "Provider",
      cell: ({ delivery }: ListedOrder) =>
        delivery
          ? `${names.get(delivery.providerId) ?? "test"} ${delivery.providerOrder ?? ""}`
          : "by hand",
    },
    {
      heading: "Created (UTC)",
      cell: ({ createdAt }: ListedOrder) => <Time at={createdAt} short />,
    },
  ];
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

/** Cancels, completes or refunds the selected orders, after showing the result for each. */
export async function changeOrders(submission: Submission, panel: Panel): Promise<Redirect> {
  const { form } = submission;
  const to = form.choice("to", TOGETHER);
  const ids = selectedIds(form, "order", PAGE);
  const plans = await submission.read((reader) =>
    ids.flatMap((id) => {
      const order = findOrder(reader, id);
      if (!order) return [];
      const username = usernameOf(reader, order.resellerAccount);
      const running = findRunning(reader, order);
      return [{ order, username, running, change: previewChange(order, to) }];
    }),
  );
  const possible = plans.filter(({ change }) => !(change instanceof Refusal));
  const verb = VERBS[to];
  if (possible.length === 0)
    form.addError("order", `None of the selected orders can be changed: ${verb}`);
  const amounts = new Map<string, number>();
  for (const { username, change } of possible) {
    if (change instanceof Refusal || change.refundMicros === 0) continue;
    amounts.set(username, (amounts.get(username) ?? 0) + change.refundMicros);
  }
  const title = `${verb} ${counted(possible.length, "order")}`;
  await submission.confirm({
    title,
    moves: [...amounts].map(([account, micros]) => ({ account, micros })),
    danger: to !== "COMPLETED",
    details: (
      <>
        {to === "CANCELLED" && (
          <Running running={possible.flatMap(({ running }) => running ?? [])} to={to} />
        )}
        <Plans plans={plans} />
      </>
    ),
  });
  const refused = new Set<string>();
  const changeOne = async ({ order, running, change }: Plan): Promise<void> => {
    const refundMicros = change instanceof Refusal ? 0 : change.refundMicros;
    const id = String(order.orderId);
    const asked = await askToCancel(submission, panel, { running, to, link: order.link }, null);
    if ("refused" in asked) {
      refused.add(`order ${id}: ${asked.refused}`);
      throw new FormError(asked.refused);
    }
    await submission.submit("transitionOrder", { id, to, refundMicros, note: asked.note });
  };
  const done = await forEachAtOnce(possible, changeOne);
  const failed = done.filter((each) => each.status === "rejected");
  const why = [...refused].join("; ");
  if (failed.length === done.length) {
    if (why !== "") form.addError("order", why);
    throw failed[0]!.reason;
  }
  const changed = done.length - failed.length;
  const query = form.raw("query");
  return {
    to: query === "" ? "/orders" : `/orders?${new URLSearchParams(query)}`,
    note: `${verb}: ${changed} of ${ids.length} orders were changed.${why && ` Not ${why}.`}`,
  };
}

interface Plan {
  order: ListedOrder | Omit<ListedOrder, "username">;
  username: string;
  running: RunningDelivery | null;
  change: ReturnType<typeof previewChange>;
}

function Plans({ plans }: { plans: readonly Plan[] }) {
  return (
    <List
      caption="The selected orders"
      rows={plans}
      empty="No matching orders."
      columns={[
        {
          heading: "Order",
          cell: ({ order }) => <a href={`/orders/${order.orderId}`}>{order.orderId}</a>,
        },
        { heading: "User", cell: ({ username }) => username },
        { heading: "Now", cell: ({ order }) => <Badge state={order.status} /> },
        {
          heading: "Then",
          cell: ({ change }) =>
            change instanceof Refusal ? (
              <>Not changed: {shownRefusal(change, new Set()).message}</>
            ) : (
              <Badge state={change.status} />
            ),
        },
        {
          heading: "Refund USD",
          number: true,
          cell: ({ change }) =>
            change instanceof Refusal ? "–" : <Money micros={change.refundMicros} />,
        },
      ]}
    />
  );
}
