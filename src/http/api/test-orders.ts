// POST /test/orders/:id: changes the status of a test order now. docs/specification/sandbox.md#post-test-order.

import { orderStatus } from "../../domain/orders/responses.ts";
import type { Writer } from "../../writer/writer.ts";
import { orderStatusField, readBody, remainsField } from "../read/body.ts";
import type { Call } from "../server/endpoint.ts";

export async function postTestOrder(
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
