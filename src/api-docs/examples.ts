// The data of the examples: the reseller `demo`, the catalogue of the quickstart, two orders.

import type { PublicOrderStatus } from "../domain/responses.ts";

/** An example of an id. */
const ID = "tz4a98xxat96iws9zmbrgj3a";
/** A UUID, as most programs make one, and not a number that the caller has for the order: that is its reference. */
export const IDEMPOTENCY_KEY = "7d1f6b52-3c0e-4a87-9f21-5e8b0c4d6a13";
/** A page of orders. */
export const CURSOR = "b3JkZXJzOjEwMQ";
export const CREATED_AT = "2026-01-31T09:30:00.000Z";

export const REQUEST_ID = "5f0c2a1e-8a31-4d3e-9d54-3f1b2f6f6a10";

export const WEBHOOK_ID = "q3c8m0vz5k7r1t9w2x4y6b8n";
export const EVENT_ID = "evt_w6xw0c6k8v1n4q2z7m5t3b9a";

export const FOLLOWERS_BODY = {
  service: "instagram-followers",
  link: "https://example.com/me",
  quantity: 1000,
  reference: "shop-4711",
};

export const FOLLOWERS_CREATED = {
  id: ID,
  orderId: 1,
  service: "Instagram Followers",
  link: "https://example.com/me",
  quantity: 1000,
  charge: 2.32,
  status: "PROCESSING",
  createdAt: CREATED_AT,
};

export const FOLLOWERS_STATUS = {
  ...FOLLOWERS_CREATED,
  startCount: 0,
  remains: 1000,
  reference: "shop-4711",
};

export const FOLLOWERS: PublicOrderStatus = {
  ...FOLLOWERS_STATUS,
  serviceName: FOLLOWERS_STATUS.service,
  status: "PROCESSING",
  chargeMicros: 2_320_000,
  createdAt: Date.parse(CREATED_AT),
};

export const LIKES_CREATED = {
  ...FOLLOWERS_CREATED,
  id: "pfh0haxfpzowht3oi213cqos",
  orderId: 2,
  service: "Instagram Likes",
  link: "https://example.com/p/1",
  quantity: 500,
  charge: 0.225,
};

export const LIKES_STATUS = { ...LIKES_CREATED, startCount: 0, remains: 500 };

export const DEMO_USER = {
  id: "k8v2m1qd7xw3n5c0b9z4r6tj",
  username: "demo",
  name: "Demo",
};
