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
import { RowBox } from "../../web/components/bulk.tsx";
import { List, Pager } from "../../web/components/lists.tsx";
import { type Chip, PageHead } from "../../web/components/page-head.tsx";
import type { Form as Values } from "../../web/server/form.ts";
import { showHidden } from "../../domain/values/text.ts";
import { Badge, stateText, Time, Typed } from "../../web/components/shown.tsx";
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
        <PageHead title="Requests">
          <small>those for a provider are sent automatically; you decide all others</small>
          <Filters action="/requests" filters={filters} chips={chipsOf(filters)}>
            <Choice name="which" label="Show" options={WHICH} value={which} />
            <Choice name="kind" label="Kind" options={REQUEST_KINDS} any="both" />
            <Field name="order" label="Order" />
            <Box name="test" label="requests for test orders" />
          </Filters>
        </PageHead>
        <List
          caption="Requests, newest first"
          compact
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

function chipsOf(filters: Values): Chip[] {
  const chips: Chip[] = [];
  if (filters.raw("which") === "all") chips.push({ names: ["which"], text: "All" });
  const kind = filters.raw("kind");
  if (kind !== "") chips.push({ names: ["kind"], text: `To ${kind}` });
  const order = filters.raw("order");
  if (order !== "") chips.push({ names: ["order"], text: <Typed text={`Order ${order}`} /> });
  if (filters.isChecked("test")) chips.push({ names: ["test"], text: "Test orders" });
  return chips;
}

function columnsOf(names: ReadonlyMap<number, string>, mayDecide: boolean) {
  const select = {
    heading: "Select",
    place: "box" as const,
    cell: (request: ShownRequest) =>
      decisionsFor(request).length > 0 && (
        <RowBox
          name="request"
          value={request.requestId}
          micros={request.refundMicros ?? 0}
          label={`Select request ${request.requestId}`}
          form={MANY}
        />
      ),
  };
  const decide = {
    heading: "Decide",
    place: "foot" as const,
    cell: (request: ShownRequest) => <Decisions request={request} back="/requests" />,
  };
  return [
    ...(mayDecide ? [select] : []),
    {
      heading: "Number",
      number: true,
      wide: true,
      cell: ({ requestId }: ShownRequest) => requestId,
    },
    { heading: "Asks to", place: "first" as const, cell: ({ kind }: ShownRequest) => kind },
    {
      heading: "State",
      place: "state" as const,
      cell: (request: ShownRequest) => <RequestState request={request} />,
    },
    {
      heading: "Order",
      place: "end" as const,
      title: ({ status }: ShownRequest) => stateText(status),
      cell: ({ orderId }: ShownRequest) => <a href={`/orders/${orderId}`}>{orderId}</a>,
    },
    {
      heading: "Service",
      grow: true,
      place: "title" as const,
      title: ({ serviceName }: ShownRequest) => showHidden(serviceName),
      cell: ({ serviceName }: ShownRequest) => <Typed text={serviceName} />,
    },
    {
      heading: "Reseller",
      place: "second" as const,
      cell: ({ username }: ShownRequest) => <a href={userPath(username)}>{username}</a>,
    },
    {
      heading: "Decided by",
      wide: true,
      cell: ({ providerId }: ShownRequest) =>
        providerId === null ? "you" : (names.get(providerId) ?? "–"),
    },
    {
      heading: "Created (UTC)",
      place: "third" as const,
      cell: ({ createdAt }: ShownRequest) => <Time at={createdAt} short />,
    },
    {
      heading: "Note",
      wide: true,
      title: ({ note }: ShownRequest) => showHidden(noteText(note)),
      cell: ({ note }: ShownRequest) => <Typed text={noteText(note)} />,
    },
    ...(mayDecide ? [decide] : []),
  ];
}

function noteText(note: string | null): string {
  return note === null ? "" : failureText(note);
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
