// The data of the examples: the reseller `demo`, the catalogue of the quickstart, two orders.

import { callerTexts, type PublicOrder } from "../../domain/orders/order-members.ts";

/** An example of an id. */
const ID = "tz4a98xxat96iws9zmbrgj3a";
/** A UUID, as most programs use. The caller's own number for an order belongs in `reference`, not in this key. */
export const IDEMPOTENCY_KEY = "7d1f6b52-3c0e-4a87-9f21-5e8b0c4d6a13";
/** The cursor of a page of orders. */
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

export const FOLLOWERS: PublicOrder = {
  ...callerTexts({}),
  ...FOLLOWERS_STATUS,
  serviceName: FOLLOWERS_STATUS.service,
  status: "PROCESSING",
  chargeMicros: 2_320_000,
  extra: null,
  createdAt: Date.parse(CREATED_AT),
};

export const COMMENTS_CREATED = {
  ...FOLLOWERS_CREATED,
  id: "w5n1c7y3x9v0b2m8k4j6h1g2",
  orderId: 2,
  service: "Instagram Comments",
  link: "https://example.com/p/1",
  quantity: 2,
  charge: 0.016,
};

export const COMMENTS_STATUS = {
  ...COMMENTS_CREATED,
  startCount: 0,
  remains: 2,
  comments: "Lovely\nWhere is this?",
};

/** A drip-feed order; the charge is for all runs. */
export const DRIP_CREATED = {
  ...FOLLOWERS_CREATED,
  id: "a9d2f4g6h8j1k3l5z7x0c2v4",
  orderId: 3,
  quantity: 100,
  charge: 0.696,
};

export const LIKES_CREATED = {
  ...FOLLOWERS_CREATED,
  id: "pfh0haxfpzowht3oi213cqos",
  orderId: 4,
  service: "Instagram Likes",
  link: "https://example.com/p/1",
  quantity: 500,
  charge: 0.225,
};

export const LIKES_STATUS = { ...LIKES_CREATED, startCount: 0, remains: 500 };

export const CANCEL_REQUEST = {
  id: "r5w1x9k3m7c0v2n8b4z6t1qd",
  kind: "cancel",
  orderId: LIKES_CREATED.orderId,
  state: "requested",
  createdAt: CREATED_AT,
};

export const REFILL_REQUEST = { ...CANCEL_REQUEST, kind: "refill", orderId: 1 };

export const DEMO_USER = {
  id: "k8v2m1qd7xw3n5c0b9z4r6tj",
  username: "demo",
  name: "Demo",
};
