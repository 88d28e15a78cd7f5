// What endpoints want, and what follows from an attempt.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Refusal } from "../../../src/domain/values/error-table.ts";
import {
  ALL_EVENTS,
  bitsOfEvents,
  EVENT_BITS,
  fallsBelow,
  parseEvents,
  subscriptionsTo,
  WEBHOOK_EVENT_TYPES,
  wantsEvent,
} from "../../../src/domain/webhooks/webhook-events.ts";
import { EARLIER_SECRETS_LIMIT } from "../../../src/domain/values/limits.ts";
import { serviceChangedData } from "../../../src/domain/catalogue/service-changes.ts";
import {
  decideDelivery,
  decideHealth,
  formatAttemptId,
  parseAttemptId,
  NO_EARLIER_SECRETS,
  rotatedSecrets,
  shareAttempts,
  type WebhookSecrets,
  signingSecrets,
} from "../../../src/domain/webhooks/webhooks.ts";

test("`*` subscribes to everything except order.progress and webhook.test", () => {
  const wanted = WEBHOOK_EVENT_TYPES.filter((type) => wantsEvent(bitsOfEvents(ALL_EVENTS), type));
  const rest = WEBHOOK_EVENT_TYPES.filter((type) => !wanted.includes(type));
  expect(rest).toEqual(["order.progress", "webhook.test"]);
  expect(wantsEvent(bitsOfEvents("*,order.progress"), "order.progress")).toBe(true);
  expect(wantsEvent(bitsOfEvents("order.completed"), "order.partial")).toBe(false);
});

test("`*` subscribes to types of later versions too, without the stored row being written again", () => {
  const later = subscriptionsTo({ ...EVENT_BITS, "order.paused": 11 });
  const stored = bitsOfEvents(ALL_EVENTS);
  expect(later.wants(stored, "order.paused")).toBe(true);
  expect(later.areSame(stored, later.bitsOf(ALL_EVENTS))).toBe(true);
  expect(later.wants(stored, "order.progress")).toBe(false);
  for (const type of WEBHOOK_EVENT_TYPES) {
    expect(later.wants(bitsOfEvents(type), "order.paused")).toBe(false);
    expect(later.wants(later.bitsOf(ALL_EVENTS), type)).toBe(wantsEvent(stored, type));
  }
});

// What rows hold today. A new type adds a line and takes the next bit, wherever it is inserted.
const STORED = {
  "order.processing": 1,
  "order.completed": 2,
  "order.partial": 4,
  "order.failed": 8,
  "order.cancelled": 16,
  "order.refunded": 32,
  "order.progress": 64,
  "balance.credited": 128,
  "balance.low": 256,
  "service.changed": 512,
  "webhook.test": 1024,
};

test("a stored subscription means the same types whatever types are added", () => {
  for (const [stored, bits] of Object.entries(STORED)) {
    expect(bitsOfEvents(stored)).toBe(bits);
    expect(WEBHOOK_EVENT_TYPES.filter((type) => wantsEvent(bits, type))).toEqual([stored as never]);
  }
});

test("each type has a bit of its own", () => {
  const bits = WEBHOOK_EVENT_TYPES.map((type) => bitsOfEvents(type));
  expect(new Set(bits).size).toBe(WEBHOOK_EVENT_TYPES.length);
  for (const bit of bits) expect(bit).toBeGreaterThan(0);
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

test("a change of a service that no reseller may order creates no event", () => {
  expect(serviceChangedData(null, null)).toBeNull();
});

test("a delivery's id is its event's and its attempt", () => {
  const eventId = `evt_${"a1".repeat(12)}`;
  expect(parseAttemptId(formatAttemptId(eventId, 12))).toEqual({ eventId, attempt: 12 });
  for (const id of [
    "",
    eventId,
    `${eventId}.0`,
    `${eventId}.01`,
    `${eventId}.1x`,
    `x${eventId}.1`,
  ]) {
    expect(parseAttemptId(id)).toBeNull();
  }
});

test("a secret signs until its time is over", () => {
  const webhook = { secret: "new", previousSecret: "old", previousUntil: 10, olderSecrets: "[]" };
  expect(signingSecrets(webhook, 9)).toEqual(["new", "old"]);
  expect(signingSecrets(webhook, 10)).toEqual(["new"]);
  expect(signingSecrets({ secret: "s", ...NO_EARLIER_SECRETS }, 0)).toEqual(["s"]);
});

test("eight resellers whose deliveries never end leave a place for a reseller with none under way", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 10 }), (owners, each) => {
      const byOwner = new Map<number, number>();
      const sending = new Map<number, number>();
      const endpointsOf = (owner: number, count: number) =>
        Array.from({ length: count }, (_, index) => ({
          webhookId: owner * 100 + index,
          owner,
          dueAt: 0,
          sending: sending.get(owner * 100 + index) ?? 0,
          isTroubled: false,
        }));
      const all = () => [...byOwner.values()].reduce((sum, count) => sum + count, 0);
      const take = (waiting: ReturnType<typeof endpointsOf>) => {
        const limits = { limit: 64 - all(), perEndpoint: 4, troubledLimit: 32, byOwner };
        const shares = shareAttempts(waiting, limits);
        for (const { webhookId, count } of shares) {
          const owner = Math.floor(webhookId / 100);
          byOwner.set(owner, (byOwner.get(owner) ?? 0) + count);
          sending.set(webhookId, (sending.get(webhookId) ?? 0) + count);
          expect(sending.get(webhookId)).toBeLessThanOrEqual(4);
        }
        return shares.length;
      };
      // They come one after the other, then all ask again.
      for (let owner = 1; owner <= owners; owner += 1) take(endpointsOf(owner, each));
      for (let again = 0; again < 3; again += 1) {
        take(Array.from({ length: owners }, (_, index) => endpointsOf(index + 1, each)).flat());
      }
      expect(all()).toBeLessThan(64);
      expect(take(endpointsOf(999, 1))).toBe(1);
    }),
  );
});

test("after any rotations each secret signs for exactly the promised time", () => {
  const rotations = fc.array(fc.tuple(fc.nat({ max: 50 }), fc.integer({ min: 1, max: 100 })), {
    maxLength: 12,
  });
  fc.assert(
    fc.property(rotations, (steps) => {
      let webhook: WebhookSecrets = { secret: "0", ...NO_EARLIER_SECRETS };
      const promised: { secret: string; until: number }[] = [];
      const earlierAt = (now: number) =>
        promised.filter(({ until }) => until > now).map(({ secret }) => secret);
      let now = 0;
      for (const [index, [pause, graceMs]] of steps.entries()) {
        now += pause;
        const before = webhook;
        const rotate = () => rotatedSecrets(before, `${index + 1}`, graceMs, now);
        if (earlierAt(now).length >= EARLIER_SECRETS_LIMIT) {
          expect(rotate).toThrow(Refusal);
          continue;
        }
        promised.unshift({ secret: webhook.secret, until: now + graceMs });
        webhook = rotate();
        for (const at of [now, now + 1, now + 30]) {
          expect(signingSecrets(webhook, at)).toEqual([webhook.secret, ...earlierAt(at)]);
        }
      }
      expect(signingSecrets(rotatedSecrets(webhook, "last", 0, now), now)).toEqual(["last"]);
    }),
  );
});

describe("after an attempt", () => {
  const failed = { httpStatus: 500, error: "status", retryAfterSeconds: null };
  const done = { httpStatus: 204, error: null, retryAfterSeconds: null };

  test("a failed last try is given up, and a success is delivered whatever came before", () => {
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
