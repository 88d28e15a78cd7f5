// Changes of several orders at once: a page shows the result for each before anything is done.

/** @jsxImportSource preact */

import { findOrder, type ListedOrder } from "../../db/orders/orders.ts";
import { usernameOf } from "../../db/users/users.ts";
import { Refusal } from "../../domain/values/error-table.ts";
import { counted } from "../../domain/values/text.ts";
import { findRunning, type RunningDelivery } from "../../operations/orders/order-cancellation.ts";
import type { Submission } from "../server/call.ts";
import { changeAll, selectedIds, whyText } from "../server/many.ts";
import type { Panel } from "../server/panel.ts";
import type { Redirect } from "../../web/server/results.ts";
import { FormError } from "../../web/server/form.ts";
import { List } from "../../web/components/lists.tsx";
import { askToCancel, Running } from "./order-cancellation.tsx";
import { previewChange, VERBS } from "./order-change.ts";
import { shownRefusal } from "../../web/server/refusals.ts";
import { Badge, Money, moneyText } from "../../web/components/shown.tsx";

/** Limit for the orders on a page of the list, and for those that are changed together. */
export const ORDERS_ON_PAGE = 50;

/** Changes that can be made to several orders at once. */
export const TOGETHER = ["COMPLETED", "CANCELLED", "REFUNDED"] as const;

/** Cancels, completes or refunds the selected orders, after showing the result for each. */
export async function changeOrders(submission: Submission, panel: Panel): Promise<Redirect> {
  const { form } = submission;
  const to = form.choice("to", TOGETHER);
  const ids = selectedIds(form, "order", ORDERS_ON_PAGE);
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
  if (possible.length === 0) form.addError("order", impossibleText(plans));
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
        <p>Charges of the selected orders: {moneyText(chargesOf(plans))} USD.</p>
        {to === "CANCELLED" && (
          <Running running={possible.flatMap(({ running }) => running ?? [])} to={to} />
        )}
        <Plans plans={plans} />
      </>
    ),
  });
  const changeOne = async ({ order, running, change }: Plan): Promise<void> => {
    const refundMicros = change instanceof Refusal ? 0 : change.refundMicros;
    const id = String(order.orderId);
    const asked = await askToCancel(submission, panel, { running, to, link: order.link }, null);
    if ("refused" in asked) throw new FormError(asked.refused);
    await submission.submit("transitionOrder", { id, to, refundMicros, note: asked.note });
  };
  const named = { noun: "order", field: "order", idOf: ({ order }: Plan) => order.orderId };
  const { done, why } = await changeAll(submission, panel, possible, named, changeOne);
  const query = form.raw("query");
  return {
    to: query === "" ? "/orders" : `/orders?${new URLSearchParams(query)}`,
    tone: done < ids.length ? "busy" : "good",
    note: `${verb}: ${done} of ${ids.length} orders were changed.${why && ` Not ${why}.`}`,
  };
}

function chargesOf(plans: readonly Plan[]): bigint {
  return plans.reduce((sum, { order }) => sum + BigInt(order.chargeMicros), 0n);
}

/** Says why none of the orders can be changed. */
function impossibleText(plans: readonly Plan[]): string {
  const refused = plans.flatMap(({ order, change }) =>
    change instanceof Refusal
      ? [{ id: order.orderId, reason: shownRefusal(change, new Set()).message }]
      : [],
  );
  return refused.length === 0 ? "Orders not found" : whyText("order", refused);
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
        { heading: "Reseller", cell: ({ username }) => username },
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
