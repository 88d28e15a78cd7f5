// POST /test/webhooks: sends one event to the endpoints of the test side. docs/specification/sandbox.md#post-test-webhook.

import type { Writer } from "../../writer/writer.ts";
import { eventTypeField, readBody } from "../read/body.ts";
import type { Call } from "../server/endpoint.ts";

export async function postTestWebhook(
  { writer }: { writer: Pick<Writer, "submit"> },
  { request, key }: Call,
): Promise<object> {
  const { fields } = await readBody(request);
  const command = { keyId: key.id, type: eventTypeField(fields) };
  return { status: "success", queued: await writer.submit("sendTestEvent", command) };
}
