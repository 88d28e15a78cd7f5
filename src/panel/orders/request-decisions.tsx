// The decisions of the operator about requests of resellers: on the row, and for many at once.

/** @jsxImportSource preact */

import { NOTE } from "../../domain/values/kinds.ts";
import type { OrderRequest } from "../../db/tables/orders.ts";
import type { ListedRequest } from "../../db/orders/order-request-lists.ts";
import { findOrderRequest } from "../../db/orders/order-requests.ts";
import { findOrder } from "../../db/orders/orders.ts";
import type { Reader } from "../../db/port/port.ts";
import { usernameOf } from "../../db/users/users.ts";
import type { Micros } from "../../domain/ledger/money.ts";
import {
  decisionsFor,
  REQUEST_DECISIONS,
  type RequestDecision,
} from "../../domain/orders/order-requests.ts";
import { decideTransition } from "../../domain/orders/order-transitions.ts";
import { attempt, Refusal, refusal } from "../../domain/values/error-table.ts";
import { counted } from "../../domain/values/text.ts";
import type { Submission } from "../server/call.ts";
import { changeAll, selectedIds, whyText } from "../server/many.ts";
import type { Panel } from "../server/panel.ts";
import type { Redirect } from "../../web/server/results.ts";
import { Bulk } from "../../web/components/bulk.tsx";
import { Form } from "../../web/components/fields.tsx";
import { List } from "../../web/components/lists.tsx";
import { Money, moneyText, StateChange, Typed } from "../../web/components/shown.tsx";

/** Limit for the requests that are decided together, and for those on a page. */
export const PAGE = 50;

const VERBS: Record<RequestDecision, string> = {
  approve: "Approve",
  decline: "Decline",
  complete: "Mark done",
};

const MANY_VERBS: Record<RequestDecision, string> = {
  approve: "Approve the selected",
  decline: "Decline the selected",
  complete: "Mark the selected done",
};

/** A listed request, with what approving it would refund; null if approving moves no money. */
export interface ShownRequest extends ListedRequest {
  refundMicros: Micros | null;
}

/** Adds the refunds that approvals would make. Only the cancellation of an order by hand moves money. */
export function withRefunds(reader: Reader, requests: readonly ListedRequest[]): ShownRequest[] {
  return reader.each(requests, (request) => {
    const refund = refundOf(reader, request, "approve");
    return { ...request, refundMicros: refund instanceof Refusal ? null : refund };
  });
}

/** Returns what a decision refunds: null if it moves no money; a refusal if the order cannot be cancelled any more. */
function refundOf(
  reader: Reader,
  request: OrderRequest,
  decision: RequestDecision,
): Micros | null | Refusal {
  if (!movesMoney(request, decision)) return null;
  const order = findOrder(reader, String(request.orderId))!;
  return attempt(() => decideTransition(order, "CANCELLED").refundMicros);
}

function movesMoney(request: OrderRequest, decision: RequestDecision): boolean {
  const { kind, providerId } = request;
  return decision === "approve" && kind === "cancel" && providerId === null;
}

/** The buttons of one request. Each says what it refunds. `back`: the page that follows. */
export function Decisions({ request, back }: { request: ShownRequest; back: "/" | "/requests" }) {
  const decisions = decisionsFor(request);
  if (decisions.length === 0) return <span class="none">–</span>;
  const { requestId, refundMicros } = request;
  const shown = { back, ...(refundMicros !== null && { refund: String(refundMicros) }) };
  return (
    <Form action={`/requests/${requestId}`} hidden={shown}>
      <div class="actions">
        {decisions.map((decision) => (
          <button name="decision" value={decision}>
            {VERBS[decision]}
            {decision === "approve" && refundMicros !== null && refundMicros > 0
              ? `, refund ${moneyText(refundMicros)} USD`
              : ""}
            <span class="hidden"> request {requestId}</span>
          </button>
        ))}
      </div>
    </Form>
  );
}

/** The id of the form for many requests. The boxes in the rows belong to it. */
export const MANY = "decide-requests";

export function DecideMany() {
  return (
    <Form action={`/${MANY}`}>
      <Bulk name="request">
        <input name="note" aria-label="Note, kept with each request" placeholder="Note" />
        {REQUEST_DECISIONS.map((decision) => (
          <button name="decision" value={decision}>
            {MANY_VERBS[decision]}
          </button>
        ))}
      </Bulk>
    </Form>
  );
}

/** Decides the selected requests, after showing the result for each. */
export async function decideRequests(submission: Submission, panel: Panel): Promise<Redirect> {
  const { form } = submission;
  const decision = form.choice("decision", REQUEST_DECISIONS);
  const note = form.optional("note", NOTE, "");
  const ids = selectedIds(form, "request", PAGE);
  const plans = await submission.read((reader) =>
    reader.each(ids, (id) => planOf(reader, id, decision)),
  );
  const possible = plans.filter((plan) => plan.isPossible);
  if (possible.length === 0) {
    const closed = plans.map(({ id }) => ({ id, reason: "not open for this decision" }));
    form.addError("request", whyText("request", closed));
  }
  const amounts = new Map<string, bigint>();
  for (const { username, refundMicros } of possible) {
    if (refundMicros === null) continue;
    amounts.set(username, (amounts.get(username) ?? 0n) + BigInt(refundMicros));
  }
  await submission.confirm({
    title: `${VERBS[decision]} ${counted(possible.length, "request")}`,
    moves: [...amounts]
      .filter(([, micros]) => micros > 0n)
      .map(([account, micros]) => ({ account, micros })),
    danger: amounts.size > 0,
    plan: possible.map(({ id }) => id),
    details: <Plans plans={plans} />,
  });
  const named = { noun: "request", field: "request", idOf: ({ id }: Plan) => id };
  const decideOne = ({ id, refundMicros }: Plan) => {
    const refund = refundMicros === null ? {} : { refundMicros };
    return submission.submit("decideRequest", { id, decision, note, ...refund });
  };
  const { done, why } = await changeAll(submission, panel, possible, named, decideOne);
  return {
    to: "/requests",
    tone: done < ids.length ? "busy" : "good",
    note: `${VERBS[decision]}: ${done} of ${counted(ids.length, "request")} decided.${why && ` Not ${why}.`}`,
  };
}

interface Plan {
  id: string;
  isPossible: boolean;
  orderId: number | null;
  username: string;
  /** What the decision refunds; null if it moves no money. */
  refundMicros: Micros | null;
}

function planOf(reader: Reader, id: string, decision: RequestDecision): Plan {
  const request = findOrderRequest(reader, id);
  if (!request) return { id, isPossible: false, orderId: null, username: "", refundMicros: null };
  const refund = refundOf(reader, request, decision);
  return {
    id,
    isPossible: decisionsFor(request).includes(decision) && !(refund instanceof Refusal),
    orderId: request.orderId,
    username: usernameOf(reader, request.resellerAccount),
    refundMicros: refund instanceof Refusal ? null : refund,
  };
}

function Plans({ plans }: { plans: readonly Plan[] }) {
  return (
    <List
      caption="The selected requests"
      rows={plans}
      empty="No matching requests."
      columns={[
        { heading: "Request", number: true, cell: ({ id }) => <Typed text={id} /> },
        { heading: "Order", cell: ({ orderId }) => orderId ?? <span class="none">–</span> },
        { heading: "Reseller", cell: ({ username }) => <Typed text={username} /> },
        {
          heading: "Decided",
          cell: ({ isPossible }) => (isPossible ? "yes" : "no: not open for this"),
        },
        {
          heading: "Refund USD",
          number: true,
          cell: ({ refundMicros }) =>
            refundMicros === null ? <span class="none">–</span> : <Money micros={refundMicros} />,
        },
      ]}
    />
  );
}

/**
 * Decides a request. Approving the cancellation of an order delivered by hand cancels it. The button showed the refund.
 * If the refund has changed since, or is large, it is confirmed first.
 */
export async function decideRequest(submission: Submission, panel: Panel): Promise<Redirect> {
  const { form, params } = submission;
  const decision = form.choice("decision", REQUEST_DECISIONS);
  const note = form.optional("note", NOTE, "");
  const to = form.optionalChoice("back", ["/", "/requests"]) ?? "/requests";
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
  const id = String(request.requestId);
  if (!movesMoney(request, decision)) {
    const { state } = await submission.submit("decideRequest", { id, decision, note });
    return { to, note: `Request ${id} is ${state}.` };
  }
  const { refundMicros } = decideTransition(order, "CANCELLED");
  const wasShown = form.raw("refund") === String(refundMicros);
  if (!wasShown || refundMicros > panel.settings.confirmAboveMicros) {
    await submission.confirm({
      title: `Cancel order ${order.orderId}`,
      moves: refundMicros === 0 ? [] : [{ account: username, micros: refundMicros }],
      danger: true,
      details: (
        <p>
          <StateChange from={order.status} to="CANCELLED" />, as its reseller asks.
        </p>
      ),
    });
  }
  await submission.submit("decideRequest", { id, decision, note, refundMicros });
  return {
    to,
    note: `Order ${order.orderId} is cancelled, ${moneyText(refundMicros)} USD refunded.`,
  };
}
