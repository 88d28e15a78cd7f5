// What endpoints want, and what follows from an attempt.

import { describe, expect, test } from "bun:test";
import {
  ALL_EVENTS,
  bitsOfEvents,
  fallsBelow,
  parseEvents,
  WEBHOOK_EVENT_TYPES,
  wantsEvent,
} from "../../src/domain/webhook-events.ts";
import { serviceChangedData } from "../../src/domain/service-changes.ts";
import {
  decideDelivery,
  decideHealth,
  formatDeliveryId,
  parseDeliveryId,
  signingSecrets,
} from "../../src/domain/webhooks.ts";

test("`*` wants everything but order.progress and webhook.test", () => {
  const wanted = WEBHOOK_EVENT_TYPES.filter((type) => wantsEvent(bitsOfEvents(ALL_EVENTS), type));
  const rest = WEBHOOK_EVENT_TYPES.filter((type) => !wanted.includes(type));
  expect(rest).toEqual(["order.progress", "webhook.test"]);
  expect(wantsEvent(bitsOfEvents("*,order.progress"), "order.progress")).toBe(true);
  expect(wantsEvent(bitsOfEvents("order.completed"), "order.partial")).toBe(false);
});

test.each([
  [["*"], ["*"]],
  [
    ["order.failed", "order.completed", "order.failed"],
    ["order.completed", "order.failed"],
  ],
  [
    ["*", "order.progress"],
    ["*", "order.progress"],
  ],
  [[], null],
  [["order.paid"], null],
  [["*", "order.paid"], null],
  [["webhook.test"], null],
  [[7], null],
  [["__proto__"], null],
])("events %j are %j", (given, known) => {
  expect(parseEvents(given)).toEqual(known as never);
});

test("a threshold is crossed from at or above it to below it", () => {
  expect(fallsBelow(10n, 9n, 10)).toBe(true);
  expect(fallsBelow(11n, 10n, 10)).toBe(false);
  expect(fallsBelow(9n, 8n, 10)).toBe(false);
  // Above 2^53, where a number would not tell them apart.
  expect(fallsBelow(2n ** 60n, 2n ** 60n - 1n, 10)).toBe(false);
});

test("a service that nobody may order, before or after, is no event", () => {
  expect(serviceChangedData(null, null)).toBeNull();
});

test("a delivery's id is its event's and its attempt", () => {
  const eventId = `evt_${"a1".repeat(12)}`;
  expect(parseDeliveryId(formatDeliveryId(eventId, 12))).toEqual({ eventId, attempt: 12 });
  for (const id of [
    "",
    eventId,
    `${eventId}.0`,
    `${eventId}.01`,
    `${eventId}.1x`,
    `x${eventId}.1`,
  ]) {
    expect(parseDeliveryId(id)).toBeNull();
  }
});

test("a secret signs until its time is over", () => {
  const webhook = { secret: "new", previousSecret: "old", previousUntil: 10 };
  expect(signingSecrets(webhook, 9)).toEqual(["new", "old"]);
  expect(signingSecrets(webhook, 10)).toEqual(["new"]);
  expect(signingSecrets({ secret: "s", previousSecret: null, previousUntil: null }, 0)).toEqual([
    "s",
  ]);
});

describe("after an attempt", () => {
  const failed = { httpStatus: 500, error: "status", retryAfterSeconds: null };
  const done = { httpStatus: 204, error: null, retryAfterSeconds: null };

  test("the last try is given up, and a success is delivered whatever came before", () => {
    const last = { failures: 9, tries: 10, replay: false };
    expect(decideDelivery(last, failed, 0, 0.5)).toEqual({
      state: "failed",
      failures: 10,
      dueAt: null,
    });
    expect(decideDelivery(last, done, 0, 0.5)).toEqual({
      state: "delivered",
      failures: 9,
      dueAt: null,
    });
    const few = { failures: 2, tries: 3, replay: false };
    expect(decideDelivery(few, failed, 0, 0.5).state).toBe("failed");
  });

  test("a replay counts for nothing, but a 410 disables", () => {
    const endpoint = {
      active: true,
      disabledReason: null,
      disabledAt: null,
      failures: 3,
      failingSince: 5,
    };
    expect(decideHealth(endpoint, failed, true, 100)).toEqual(endpoint);
    expect(decideHealth(endpoint, done, true, 100)).toEqual(endpoint);
    expect(decideHealth(endpoint, done, false, 100)).toMatchObject({
      failures: 0,
      failingSince: null,
    });
    const gone = { ...failed, httpStatus: 410 };
    expect(decideHealth(endpoint, gone, true, 100)).toMatchObject({
      active: false,
      disabledReason: "gone",
      disabledAt: 100,
      failures: 3,
    });
    // An endpoint that is disabled keeps its reason.
    const disabled = {
      ...endpoint,
      active: false,
      disabledReason: "operator" as const,
      disabledAt: 7,
    };
    expect(decideHealth(disabled, gone, true, 100)).toEqual(disabled);
  });
});
