// POST /test/webhooks: sends one event to the endpoints of the test side.
// docs/specification/sandbox.md#post-test-webhook.

import type { Writer } from "../../writer/writer.ts";
import { eventTypeField, readBody } from "../read/body.ts";
import type { Call } from "../server/endpoint.ts";
import { sendTestEvent } from "../../api-docs/endpoints/test-webhooks.ts";
import { TEST_WEBHOOK, type Route } from "../server/api-route.ts";

async function postTestWebhook(
  { writer }: { writer: Pick<Writer, "submit"> },
  { request, key }: Call,
): Promise<object> {
  const { fields } = await readBody(request);
  const command = { keyId: key.id, type: eventTypeField(fields) };
  return { status: "success", queued: await writer.submit("sendTestEvent", command) };
}

export const routes: readonly Route<{ writer: Pick<Writer, "submit"> }>[] = [
  ["POST", "/api/v1/test/webhooks", TEST_WEBHOOK, postTestWebhook, sendTestEvent],
];
