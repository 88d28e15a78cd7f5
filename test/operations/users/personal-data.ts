// A user whose name is in every text that a database can have of it.

import { alertChanges, alertConditions } from "../../../src/domain/alerts/alerts.ts";
import type { Actor } from "../../../src/domain/ledger/ledger.ts";
import { memberAuthor } from "../../../src/domain/members/members.ts";
import type { GivenFields } from "../../../src/domain/orders/order-fields.ts";
import type { ServiceType } from "../../../src/domain/catalogue/service-types.ts";
import { listWebhooksFailed } from "../../../src/db/webhooks/alerts.ts";
import { findUser } from "../../../src/db/users/users.ts";
import { askPayment, seedMethod } from "../../support/seeds/payments.ts";
import type { Shop } from "../../support/worlds/shop.ts";
import { seedProvider } from "../../support/seeds/shop-orders.ts";

export const SECRET = "Erika";
const LINK = `https://example.com/${SECRET}`;
const NOTES = { note: `for ${SECRET}`, publicNote: `dear ${SECRET}` };

/** The columns that have SECRET in them: what an erasure must reach. */
export const PERSONAL_COLUMNS = [
  "attempts.cause",
  "audit.after",
  "audit.before",
  "audit.subject",
  "idempotency.response_body",
  "keys.label",
  "mails.data",
  "mails.email",
  "member_attempts.user_agent",
  "member_networks.network",
  "member_sessions.user_agent",
  "members.email",
  "members.name",
  "order_events.note",
  "order_requests.note",
  "orders.extra",
  "orders.link",
  "orders.reference",
  "past_orders.link",
  "payments.cause",
  "payments.customer_reference",
  "payments.reason",
  "payments.url",
  "transfer_details.public_note",
  "transfer_details.reference",
  "transfers.note",
  "unrecognized_numbers.cause",
  "user_contacts.email",
  "user_contacts.note",
  "users.name",
  "users.username",
  "webhook_events.body",
  "webhooks.url",
];

/** alice, as SECRET, with her child cora: inactive, without open orders and requests. */
export function seedPersonalData(shop: Shop): Shop {
  seedProvider(shop, { url: "http://127.0.0.1:9" });
  shop.run("updateUser", { username: "alice", changes: { username: SECRET, name: SECRET } });
  shop.run("updateUser", { username: SECRET, changes: { name: `${SECRET} Ltd` } });
  const contact = { email: `${SECRET}@example.com`, note: `met ${SECRET}\nat the fair` };
  shop.run("updateUser", { username: SECRET, changes: contact });
  shop.run("createUser", { username: "cora", name: "Cora", parent: SECRET });
  const keyId = keyOfUser(shop);
  const { account } = shop.read((reader) => findUser(reader, SECRET))!;
  const personal: Personal = { shop, caller: { resellerAccount: account, keyId } };
  failingWebhook(shop);
  payments(shop);
  pastOrder(personal);
  ordersByHand(personal);
  typedOrders(personal);
  ordersAtProvider(personal);
  failedAlert(shop);
  member(shop);
  shop.run("setUserActive", { username: SECRET, active: false });
  return shop;
}

/** A member with a session, a known network and a failed sign-in. */
function member(shop: Shop): void {
  const [email, site] = [`${SECRET}@example.com`.toLowerCase(), "portal"] as const;
  const invitationHash = "7".repeat(64);
  const invited = { email, name: SECRET, role: "owner", language: "en", invitationHash } as const;
  const person = shop.run("inviteMember", { username: SECRET, ...invited });
  shop.run("acceptInvitation", { site, invitationHash, passwordHash: "p" });
  const from = { address: "10.9.8.7", userAgent: SECRET };
  shop.run("beginSignIn", { site, step: "password", name: email, network: "10.9.8.7", ...from });
  const session = { id: "member-session-12", hash: "8".repeat(64), ...from };
  const opened = { site, attempt: null, person, passwordHash: "p", session, network: SECRET };
  shop.run("openSession", opened);
  // An e-mail informs of a sign-in from another network.
  shop.run("setMailSettings", { active: true, operator: null });
  payIn(shop, { keyId: null, operator: memberAuthor(person) });
  const second = { ...session, id: "member-session-13" };
  shop.run("openSession", { ...opened, session: second, network: "10.1.2.3" });
}

/** A payment that the member asked for, with a file, what it typed and what was answered. */
function payIn(shop: Shop, actor: Actor): void {
  seedMethod(shop, "bank", "manual");
  const id = askPayment(shop, { methodId: "bank", actor, now: Date.now() });
  const begun = { outcome: "begun", reference: null, url: LINK, expiresAt: null } as const;
  shop.run("recordBegun", { id, isReadable: false, result: begun });
  const data = Buffer.from(SECRET).toString("base64");
  const file = { type: "image/png", bytes: 5, sha256: "0".repeat(64), data } as const;
  shop.run("claimPayment", { id, reference: SECRET, file, isClaimed: true, actor });
  shop.run("rejectPayment", { id, reason: `not ${SECRET}` });
  const refused = askPayment(shop, { methodId: "bank", actor, now: Date.now() });
  const result = { outcome: "refused", cause: `${SECRET} may not pay` } as const;
  shop.run("recordBegun", { id: refused, isReadable: false, result });
}

interface Personal {
  shop: Shop;
  caller: { resellerAccount: number; keyId: string };
}

function keyOfUser(shop: Shop): string {
  const { id } = shop.key(SECRET, "full");
  shop.run("updateKey", { id, changes: { label: SECRET, allow: "10.0.0.0/8" } });
  shop.run("recordKeyUsage", { uses: [{ id, usedAt: 1, address: "10.9.8.7" }] });
  return id;
}

const SIGNING_SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

function failingWebhook(shop: Shop): void {
  const webhook = { username: SECRET, url: LINK, secret: SIGNING_SECRET, balanceLowBelow: null };
  shop.run("createWebhook", { ...webhook, events: "order.completed" });
}

/** That its failures disabled it is told to the operator's endpoint. */
function failedAlert(shop: Shop): void {
  const target = { url: "https://ops.example.com/" };
  shop.run("createAlertEndpoint", { target, secret: SIGNING_SECRET });
  shop.query(
    `UPDATE webhooks SET active = 0, disabled_reason = 'failures', disabled_at = 1 WHERE url = '${LINK}'`,
  );
  const failedWebhooks = shop.read((reader) => listWebhooksFailed(reader));
  const conditions = alertConditions(
    {
      providers: [],
      failedWebhooks,
      limitedKeys: [],
      spenders: [],
      payments: { waiting: 0, reversed: 0, surplus: 0 },
      surpluses: [],
      mails: { dueAt: null, troubledSince: null, failed: 0 },
      machine: {},
    },
    [],
    0,
  );
  shop.run("recordAlerts", alertChanges(conditions, [], 0));
  const raised = shop.query("SELECT 1 FROM alerts WHERE kind = 'webhook_disabled'");
  if (raised.length !== 1) throw new Error("no alert was raised");
}

function payments(shop: Shop): void {
  const texts = { username: SECRET, amountMicros: 5, ...NOTES };
  shop.run("creditUser", { ...texts, reference: `invoice ${SECRET}` });
  shop.run("debitUser", texts);
  shop.run("creditUser", { username: SECRET, amountMicros: 5, note: null, reference: SECRET });
}

/** An order of another panel, which the user had moved in from. */
function pastOrder({ shop, caller }: Personal): void {
  shop.run("beginImport", { run: "r", isAlone: false, orders: 5, services: 0 });
  shop.query(
    `INSERT INTO imported_users (source, account, balance_micros) VALUES ('7', ${caller.resellerAccount}, 0)`,
  );
  shop.query(
    `INSERT INTO past_orders VALUES (5, ${caller.resellerAccount}, 9, 'S', '${LINK}', 1, 1, 'COMPLETED', 0, 0, 1, NULL, NULL)`,
  );
}

function end(shop: Shop, orderId: number, to: "COMPLETED" | "CANCELLED"): void {
  const notes = to === "COMPLETED" ? { note: NOTES.note } : NOTES;
  shop.run("transitionOrder", { id: String(orderId), to, ...notes });
}

/** One is delivered and asked to be refilled, one is refunded, one is sent once more with its Idempotency-Key. */
function ordersByHand({ shop, caller }: Personal): void {
  shop.service({ id: "kept", refill: true });
  const order = { ...caller, service: "kept", link: LINK, quantity: 10 };
  const { orderId } = shop.run("placeOrder", { ...order, reference: SECRET });
  shop.run("noteOrder", { id: String(orderId), note: `ask ${SECRET}` });
  end(shop, orderId, "COMPLETED");
  const asked = shop.run("makeRequest", { ...caller, kind: "refill", id: String(orderId) });
  shop.run("decideRequest", { id: asked.id, decision: "decline", note: NOTES.note });
  end(shop, shop.run("placeOrder", order).orderId, "CANCELLED");
  const claim = { key: "k", requestHash: "0".repeat(64) };
  shop.run("placeOrderOnce", { order, claim });
  const [last] = shop.query<{ id: number }>("SELECT max(order_id) AS id FROM orders");
  end(shop, Number(last!.id), "COMPLETED");
}

const TYPED: [type: ServiceType, quantity: number | null, given: GivenFields][] = [
  ["custom_comments", null, { comments: `hi ${SECRET}\nbye\n${SECRET} "ü" \\` }],
  ["comment_replies", null, { username: SECRET, comments: `${SECRET}\nsecond` }],
  [
    "web_traffic",
    10,
    {
      country: SECRET,
      device: "5",
      type_of_traffic: "2",
      google_keyword: "",
      referring_url: LINK,
    },
  ],
  ["poll", 10, { answer_number: 3 }],
  ["default", 10, { runs: 2, interval: 5 }],
];

function typedOrders({ shop, caller }: Personal): void {
  for (const [type, quantity, given] of TYPED) {
    shop.service({ id: type, type, min: 1, dripfeed: type === "default" });
    const order = { ...caller, service: type, link: LINK, quantity, given };
    end(shop, shop.run("placeOrder", order).orderId, "COMPLETED");
  }
}

/** One is refused, of the other its provider does not know the number. */
function ordersAtProvider({ shop, caller }: Personal): void {
  shop.service({ id: "likes", provider: { name: "acme", service: "7" } });
  const order = { ...caller, service: "likes", link: LINK, quantity: 10 };
  attempt(shop, shop.run("placeOrder", order).orderId, {
    outcome: "refused",
    cause: `not ${LINK}`,
    outOfFunds: false,
  });
  const { orderId } = shop.run("placeOrder", order);
  attempt(shop, orderId, { outcome: "accepted", providerOrder: "501" });
  const entry = { word: null, remains: null, startCount: null, text: `no order for ${LINK}` };
  const reports = [{ orderId, report: { ...entry, isUnrecognized: true as const } }];
  shop.run("recordReports", { providerId: 1, reports, pollIntervalMs: 1000, jitter: 0 });
  end(shop, orderId, "CANCELLED");
}

type Result = Parameters<typeof resultOf>[0];
const resultOf = (
  result:
    | { outcome: "refused"; cause: string; outOfFunds: false }
    | { outcome: "accepted"; providerOrder: string },
) => result;

function attempt(shop: Shop, orderId: number, result: Result): void {
  const of = { orderId, placeRetryMs: 1 };
  const started = shop.run("startAttempt", { ...of, providerId: 1, server: "test" });
  if (!started.send) throw new Error("not sent");
  const { attemptId } = started;
  shop.run("finishAttempt", { ...of, attemptId, result, backoffMs: 1 });
}
