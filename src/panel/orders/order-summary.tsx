// One sentence about an order's state and what the operator can do about it.

/** @jsxImportSource preact */

import { placementOf } from "../../domain/delivery/deliveries.ts";
import { decisionsFor } from "../../domain/orders/order-requests.ts";
import { isTestOrder } from "../../domain/orders/sandbox.ts";
import { failureText } from "../providers/call-failures.ts";
import type { ShownOrder } from "./shown-order.ts";
import { stateWord, Time, Typed } from "../../web/components/shown.tsx";

export function OrderSummary({ order, provider, timeline, late }: ShownOrder) {
  const { status, delivery } = order;
  const placement = placementOf(delivery);
  const name = provider?.name ?? "";
  const failed = timeline.findLast(({ what }) => what === "not_sent" || what === "unknown");
  const cause = failed?.note ? failureText(failed.note) : null;
  if (late) {
    return (
      <p class="notice busy">
        {name} reported {stateWord(late.reported)} after the order had ended as{" "}
        {stateWord(late.status)}. Nothing was changed: accept or dismiss it here.
      </p>
    );
  }
  if (status === "PENDING" && placement === "unknown") {
    return (
      <p class="notice bad">
        It is not known whether {name} received this order
        {cause ? (
          <>
            {" "}
            (<Typed text={cause} />)
          </>
        ) : null}
        . It is never sent again automatically. Look for its link at {name}, then settle it here.
      </p>
    );
  }
  if (status === "PENDING" && placement === "queued") {
    return (
      <p class="notice busy">
        {provider?.outOfFundsAt
          ? `${name} refuses orders for lack of funds: top up the balance there. `
          : ""}
        It waits to be sent to {name}, next at <Time at={delivery!.nextSubmitAt} />
        {cause ? (
          <>
            ; the last try failed: <Typed text={cause} />
          </>
        ) : (
          "."
        )}
      </p>
    );
  }
  if (status === "PENDING") return <p class="notice busy">It is being sent to {name} now.</p>;
  if (status === "PROCESSING" && placement === "manual") {
    return <p class="notice busy">It is delivered by hand: deliver it, then complete it here.</p>;
  }
  if (status === "PROCESSING") {
    return (
      <p class="notice quiet">
        {name} delivers it as number {delivery?.providerOrder}; it is asked again at{" "}
        <Time at={delivery?.nextPollAt ?? null} />.
      </p>
    );
  }
  return null;
}

/** The reseller's open requests, with a link to the page that decides them. */
export function OpenRequests({ order, requests }: Pick<ShownOrder, "order" | "requests">) {
  const path = `/requests?order=${order.orderId}${isTestOrder(order) ? "&test=yes" : ""}`;
  return (
    <>
      {requests.map((request) => (
        <p class="notice busy">
          Its reseller asks to {request.kind} it.{" "}
          <a href={path}>
            {decisionsFor(request).length > 0 ? "Decide the request" : "See the request"}
          </a>
        </p>
      ))}
    </>
  );
}
