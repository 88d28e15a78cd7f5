// Requests of resellers to cancel or refill orders: those waiting for the operator, and the results of the others.

/** @jsxImportSource preact */

import { NOTE } from "../../domain/values/kinds.ts";
import { type ListedRequest, listOrderRequests } from "../../db/orders/order-request-lists.ts";
import { findOrderRequest } from "../../db/orders/order-requests.ts";
import { findOrder } from "../../db/orders/orders.ts";
import { namesOfProviders } from "../../db/providers/providers.ts";
import { usernameOf } from "../../db/users/users.ts";
import { mayAct } from "../../domain/administrators/administrators.ts";
import {
  decisionsFor,
  REQUEST_DECISIONS,
  REQUEST_KINDS,
  type RequestDecision,
} from "../../domain/orders/order-requests.ts";
import { decideTransition } from "../../domain/orders/transition-decision.ts";
import { refusal } from "../../domain/values/error-table.ts";
import type { Call, Submission } from "../server/call.ts";
import type { Redirect, View } from "../../web/server/results.ts";
import { Box, Choice, Field, Filters, Fold, Form } from "../../web/components/fields.tsx";
import { List, Pager } from "../../web/components/lists.tsx";
import { Badge, moneyText, Time, Typed } from "../../web/components/shown.tsx";
import { userPath } from "../users/shown-user.ts";

const PAGE = 50;
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
    return {
      requests: filters.errors.size > 0 ? [] : listOrderRequests(reader, filter, PAGE + 1),
      names: namesOfProviders(reader),
    };
  });
  const rows = requests.slice(0, PAGE);
  const mayDecide = mayAct(call.visitor.administrator.role, "operator");
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
          columns={columnsOf(names, mayDecide)}
        />
        <Pager call={call} next={requests.length > PAGE ? rows.at(-1)!.requestId : null} />
      </>
    ),
  };
}

function columnsOf(names: ReadonlyMap<number, string>, mayDecide: boolean) {
  return [
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
    { heading: "Note", cell: ({ note }: ListedRequest) => <Typed text={note} /> },
    ...(mayDecide
      ? [
          {
            heading: "Decide",
            cell: (request: ListedRequest) => <Decisions request={request} />,
          },
        ]
      : []),
  ];
}

/** The state as callers see it, except that only the panel shows when the result of a call is unknown. */
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

const VERBS: Record<RequestDecision, string> = {
  approve: "Approve",
  decline: "Decline",
  complete: "Mark done",
};

function Decisions({ request }: { request: ListedRequest }) {
  const decisions = decisionsFor(request);
  const action = `/requests/${request.requestId}`;
  if (decisions.length === 0) return <>–</>;
  return (
    <Fold action={action} summary={`Decide ${request.requestId}`}>
      <Form action={action}>
        <Field name="note" label="Note" hint="why, kept with the request" />
        <p class="actions">
          {decisions.map((decision) => (
            <button name="decision" value={decision}>
              {VERBS[decision]}
            </button>
          ))}
        </p>
      </Form>
    </Fold>
  );
}

/**
 * Decides a request. Approving the cancellation of an order delivered by hand cancels it, so its refund is confirmed
 * first.
 */
export async function decideRequest(submission: Submission): Promise<Redirect> {
  const { form, params } = submission;
  const decision = form.choice("decision", REQUEST_DECISIONS);
  const note = form.optional("note", NOTE, "");
  form.check();
  const { request, order, username } = await submission.read((reader) => {
    const found = findOrderRequest(reader, params["request"]!);
    if (!found) throw refusal("request_not_found");
    const itsOrder = findOrder(reader, String(found.orderId))!;
    return {
      request: found,
      order: itsOrder,
      username: usernameOf(reader, itsOrder.resellerAccount),
    };
  });
  if (!decisionsFor(request).includes(decision)) throw refusal("request_not_open");
  const { kind, providerId, requestId } = request;
  const id = String(requestId);
  const to = "/requests";
  if (decision !== "approve" || kind !== "cancel" || providerId !== null) {
    const { state } = await submission.submit("decideRequest", { id, decision, note });
    return { to, note: `Request ${id} is ${state}.` };
  }
  const { refundMicros } = decideTransition(order, "CANCELLED");
  await submission.confirm({
    title: `Cancel order ${order.orderId}`,
    moves: refundMicros === 0 ? [] : [{ account: username, micros: refundMicros }],
    danger: true,
    details: <p>{order.status} → CANCELLED, as its reseller asks.</p>,
  });
  await submission.submit("decideRequest", { id, decision, note, refundMicros });
  return {
    to,
    note: `Order ${order.orderId} is CANCELLED, ${moneyText(refundMicros)} USD refunded.`,
  };
}
