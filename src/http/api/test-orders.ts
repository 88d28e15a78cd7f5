// POST /test/orders/:id: changes the status of a test order now. docs/specification/sandbox.md#post-test-order.

import { orderStatus } from "../../domain/orders/order-members.ts";
import type { Writer } from "../../writer/writer.ts";
import { orderStatusField, readBody, remainsField } from "../read/body.ts";
import type { Call } from "../server/endpoint.ts";
import { moveTestOrder } from "../../api-docs/endpoints/test-orders.ts";
import { TEST, type Route } from "../server/api-route.ts";

async function postTestOrder(
  { writer }: { writer: Pick<Writer, "submit"> },
  { request, params, key }: Call,
): Promise<object> {
  const { fields } = await readBody(request);
  const to = orderStatusField(fields);
  const order = await writer.submit("transitionTestOrder", {
    keyId: key.id,
    id: params["id"]!,
    to,
    remains: to === "PARTIAL" ? remainsField(fields) : 0,
  });
  return { status: "success", order: orderStatus(order) };
}

export const routes: readonly Route<{ writer: Pick<Writer, "submit"> }>[] = [
  ["POST", "/api/v1/test/orders/:id", TEST, postTestOrder, moveTestOrder],
];
