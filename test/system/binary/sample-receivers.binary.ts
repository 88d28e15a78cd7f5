// The receivers of docs/samples take what the sender signs, and nothing else.

import { describe, expect, test } from "bun:test";
import { parseNetwork } from "../../../src/config/networks.ts";
import { createWebhookSender } from "../../../src/webhooks/sender.ts";
import { startSample, WEBHOOK_SAMPLES } from "../../support/peers/sample-receivers.ts";

const secretOf = (byte: number) => `whsec_${Buffer.alloc(32, byte).toString("base64")}`;
const SECRET = secretOf(7);
const policy = { allow: [parseNetwork("127.0.0.0/8")!], allowHttp: true };

const orderEvent = (sequence: number, status: string, link = "https://example.com/é") =>
  JSON.stringify({
    type: `order.${status.toLowerCase()}`,
    timestamp: "2026-11-21T00:49:31.840Z",
    data: { order: { id: "a", orderId: 7, status, link }, sequence },
  });

describe.each(Object.keys(WEBHOOK_SAMPLES))("%s", (file) => {
  test("accepts only what is signed with its secret and a current time", async () => {
    const sample = await startSample(file, SECRET);
    try {
      const send = async (body: string, secrets: string[], ageMs = 0) => {
        const sender = createWebhookSender({ policy, now: () => Date.now() - ageMs });
        const request = { url: sample.url, secrets, eventId: "evt_1", body };
        return (await sender(request, new AbortController().signal)).httpStatus;
      };
      expect(await send(orderEvent(1, "PROCESSING"), [SECRET])).toBe(204);
      expect(await send(orderEvent(3, "COMPLETED"), [secretOf(1), SECRET])).toBe(204);
      expect(await send('{"type":"webhook.test","data":{}}', [SECRET, secretOf(1)])).toBe(204);
      expect(await send(orderEvent(4, "FAILED"), [secretOf(1)])).toBe(401);
      expect(await send(orderEvent(4, "FAILED"), [SECRET], 301_000)).toBe(401);
      // Until it arrives it has come nearer to now.
      expect(await send(orderEvent(4, "FAILED"), [SECRET], -420_000)).toBe(401);
      const forged = { "webhook-id": "evt_1", "webhook-timestamp": "soon" };
      for (const signature of ["", "v1,", "v1", "v2,abc", "é", "v1,é "]) {
        const headers = { ...forged, "webhook-signature": signature };
        const given = await fetch(sample.url, { method: "POST", headers, body: "{}" });
        expect([signature, given.status]).toEqual([signature, 401]);
      }
      while (sample.lines().length < 3) await Bun.sleep(5);
      expect(sample.lines()).toEqual([
        "order 7 is PROCESSING",
        "order 7 is COMPLETED",
        "webhook.test",
      ]);
    } finally {
      await sample.stop();
    }
  });
});
