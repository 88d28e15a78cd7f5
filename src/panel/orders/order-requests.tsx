// Requests of resellers to cancel or refill orders: those waiting for the operator, and the results of the others.

/** @jsxImportSource preact */

import { failureText } from "../providers/call-failures.ts";
import { type ListedRequest, listOrderRequests } from "../../db/orders/order-request-lists.ts";
import { findOrder } from "../../db/orders/orders.ts";
import { namesOfProviders } from "../../db/providers/providers.ts";
import { mayAct } from "../../domain/administrators/administrators.ts";
import { decisionsFor, REQUEST_KINDS } from "../../domain/orders/order-requests.ts";
import type { Call } from "../server/call.ts";
import type { View } from "../../web/server/results.ts";
import { Box, Choice, Field, Filters } from "../../web/components/fields.tsx";
import { List, Pager } from "../../web/components/lists.tsx";
import { Badge, Time, Typed } from "../../web/components/shown.tsx";
import { userPath } from "../users/shown-user.ts";
import {
  DecideMany,
  Decisions,
  MANY,
  PAGE,
  type ShownRequest,
  withRefunds,
} from "./request-decisions.tsx";

const WHICH = [
  ["open", "open"],
  ["all", "all"],
] as const;

export async function requestsPage(call: Call): Promise<View> {
  const { filters } = call;
  const which = filters.optionalChoice("which", ["open", "all"]) ?? "open";
  const kind = filters.optionalChoice("kind", REQUEST_KINDS) ?? undefined;
  const asked = filters.optionalText("order");
  const { requests, names } = await call.read((reader) => {
    const order = asked === null ? null : findOrder(reader, asked);
    if (order === undefined) filters.addError("order", "Order not found");
    const filter = {
      open: which === "open",
      kind,
      orderId: order?.orderId,
      test: filters.isChecked("test"),
      below: filters.below(),
    };
    const found = filters.errors.size > 0 ? [] : listOrderRequests(reader, filter, PAGE + 1);
    return { requests: withRefunds(reader, found), names: namesOfProviders(reader) };
  });
  const rows = requests.slice(0, PAGE);
  const mayDecide = mayAct(call.visitor.administrator.role, "operator");
  const isAnyOpen = rows.some((request) => decisionsFor(request).length > 0);
  return {
    title: "Requests",
    body: (
      <>
        <h1>Requests</h1>
        <p>
          Only a change of the order's status moves money. Requests for a provider are sent
          automatically; you decide all others.
        </p>
        <Filters action="/requests" filters={filters}>
          <Choice name="which" label="Show" options={WHICH} value={which} />
          <Choice name="kind" label="Kind" options={REQUEST_KINDS} any="both" />
          <Field name="order" label="Order" />
          <Box name="test" label="requests for test orders" />
        </Filters>
        <List
          caption="Requests, newest first"
          rows={rows}
          empty="No matching requests."
          columns={columnsOf(names, mayDecide && isAnyOpen)}
        />
        {mayDecide && isAnyOpen && <DecideMany />}
        <Pager call={call} next={requests.length > PAGE ? rows.at(-1)!.requestId : null} />
      </>
    ),
  };
}

function columnsOf(names: ReadonlyMap<number, string>, mayDecide: boolean) {
  const select = {
    heading: "Select",
    cell: (request: ShownRequest) =>
      decisionsFor(request).length > 0 && (
        <input
          type="checkbox"
          name="request"
          value={request.requestId}
          form={MANY}
          aria-label={`Select request ${request.requestId}`}
        />
      ),
  };
  return [
    ...(mayDecide ? [select] : []),
    { heading: "Number", number: true, cell: ({ requestId }: ListedRequest) => requestId },
    { heading: "Asks to", cell: ({ kind }: ListedRequest) => kind },
    { heading: "State", cell: (request: ListedRequest) => <RequestState request={request} /> },
    {
      heading: "Order",
      cell: ({ orderId, status }: ListedRequest) => (
        <>
          <a href={`/orders/${orderId}`}>{orderId}</a> <Badge state={status} />
        </>
      ),
    },
    { heading: "Service", cell: ({ serviceName }: ListedRequest) => <Typed text={serviceName} /> },
    {
      heading: "User",
      cell: ({ username }: ListedRequest) => <a href={userPath(username)}>{username}</a>,
    },
    {
      heading: "Decided by",
      cell: ({ providerId }: ListedRequest) =>
        providerId === null ? "you" : (names.get(providerId) ?? "–"),
    },
    { heading: "Created (UTC)", cell: ({ createdAt }: ListedRequest) => <Time at={createdAt} /> },
    {
      heading: "Note",
      cell: ({ note }: ListedRequest) => <Typed text={note === null ? null : failureText(note)} />,
    },
    ...(mayDecide
      ? [
          {
            heading: "Decide",
            cell: (request: ShownRequest) => <Decisions request={request} back="/requests" />,
          },
        ]
      : []),
  ];
}

/** The state as callers see it. Only the panel also shows when the result of a call is unknown. */
export function RequestState({ request }: { request: Pick<ListedRequest, "state" | "unknown"> }) {
  const { state, unknown } = request;
  return unknown ? <Badge state="unknown" /> : <Badge state={state} tone={TONES[state]} />;
}

const TONES = {
  requested: "busy",
  sent: "busy",
  accepted: "busy",
  declined: "quiet",
  done: "good",
} as const;
