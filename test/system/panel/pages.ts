// The pages that are looked at in every view: a page that is added gets a line here. And what they show.

import { ALL_EVENTS } from "../../../src/domain/webhooks/webhook-events.ts";
import { formatSecret } from "../../../src/domain/webhooks/webhooks.ts";
import { askPayment, seedMember, seedMethod } from "../../support/seeds/payments.ts";
import type { TestPanel } from "../../support/worlds/panel.ts";
import { VISITOR } from "../../support/seeds/visitors.ts";

export interface PageToOpen {
  name: string;
  path: string;
  /** Nobody is signed in. */
  isPublic?: true;
  /** Who is signed in, but for the code of the second factor. */
  awaitsCode?: string;
}

export const PAGES: readonly PageToOpen[] = [
  { name: "sign-in", path: "/sign-in", isPublic: true },
  { name: "set-up", path: "/setup", isPublic: true },
  { name: "code", path: "/sign-in/code", awaitsCode: "olga" },
  { name: "today", path: "/" },
  { name: "orders", path: "/orders" },
  { name: "search", path: "/search?q=e" },
  { name: "search-list", path: "/search/list?q=e" },
  { name: "search-none", path: "/search?q=nothing+at+all" },
  { name: "orders-filtered", path: "/orders?status=COMPLETED&user=alice&placement=manual" },
  { name: "orders-wrong", path: "/orders?user=nobody&ids=what" },
  { name: "order", path: "/orders/1" },
  { name: "order-unknown", path: "/orders/5" },
  { name: "order-final", path: "/orders/3" },
  { name: "requests", path: "/requests" },
  { name: "requests-all", path: "/requests?which=all&kind=cancel" },
  { name: "requests-of-order", path: "/requests?which=all&order=1" },
  { name: "alerts", path: "/alerts" },
  { name: "users", path: "/users" },
  { name: "user", path: "/users/alice" },
  { name: "user-child", path: "/users/bob" },
  { name: "users-children", path: "/users?parent=alice" },
  { name: "members", path: "/members" },
  { name: "members-none", path: "/members?search=nothing+at+all" },
  { name: "registrations", path: "/members/registrations" },
  { name: "notices", path: "/members/notices" },
  { name: "mails", path: "/members/mails" },
  { name: "user-members", path: "/users/alice/members" },
  { name: "order-service", path: "/users/alice/order" },
  { name: "order-new", path: "/users/alice/order/views" },
  { name: "webhooks", path: "/webhooks" },
  { name: "webhook", path: "/users/alice/webhooks/:webhook" },
  { name: "transactions", path: "/users/alice/transactions" },
  { name: "audit", path: "/audit" },
  { name: "audit-none", path: "/audit?subject=nothing" },
  { name: "audit-wrong", path: "/audit?from=yesterday" },
  { name: "services", path: "/services" },
  { name: "services-of-user", path: "/services?user=alice" },
  { name: "services-below-cost", path: "/services?below-cost=yes&sort=-margin" },
  { name: "service", path: "/services/views" },
  { name: "service-new", path: "/new-service" },
  { name: "service-duplicate", path: "/new-service?from=views" },
  { name: "categories", path: "/categories" },
  { name: "services-import", path: "/import-services" },
  { name: "grants-import", path: "/import-grants" },
  { name: "users-import", path: "/import-users" },
  { name: "providers", path: "/providers" },
  { name: "provider", path: "/providers/acme" },
  { name: "provider-prices", path: "/providers/acme/prices" },
  { name: "provider-settings", path: "/providers/acme/settings" },
  { name: "provider-unknown", path: "/providers/acme/unknown" },
  { name: "reports", path: "/reports" },
  { name: "reports-by-service", path: "/reports?by=service" },
  { name: "money", path: "/reports/money" },
  { name: "transactions-of-all", path: "/transactions" },
  { name: "invoices", path: "/invoices" },
  { name: "invoice", path: "/invoices/2026-1" },
  { name: "payments", path: "/payments" },
  { name: "payments-waiting", path: "/payments?state=waiting&user=alice" },
  { name: "payment", path: "/payments/:payment" },
  { name: "payment-paid", path: "/payments/:paid" },
  { name: "payment-surplus", path: "/payments/:surplus" },
  { name: "payment-methods", path: "/payment-methods" },
  { name: "payment-method", path: "/payment-methods/bank" },
  { name: "payment-method-card", path: "/payment-methods/card" },
  { name: "payment-method-program", path: "/payment-methods/program" },
  { name: "payment-method-new", path: "/new-payment-method" },
  { name: "payment-method-new-card", path: "/new-payment-method?kind=stripe" },
  { name: "payment-method-new-program", path: "/new-payment-method?kind=callback" },
  { name: "imported", path: "/imported" },
  { name: "moving-in", path: "/moving-in" },
  { name: "imported-order", path: "/imported/orders/900001" },
  { name: "system", path: "/system" },
  { name: "administrators", path: "/administrators" },
  { name: "account", path: "/account" },
  { name: "second-factor", path: "/account/second-factor" },
];

/** Forms that are sent as they are, or with what is wrong: each error is beside its field. */
export const WRONG: readonly {
  path: string;
  /** The form's action. */
  action: string;
  typed?: Readonly<Record<string, string>>;
}[] = [
  { path: "/sign-in", action: "/sign-in" },
  { path: "/orders/1", action: "/orders/1/partial", typed: { remains: "many" } },
  { path: "/orders/5", action: "/orders/5/settle" },
  {
    path: "/users/alice/order/views",
    action: "/users/alice/order/views",
    typed: { quantity: "0" },
  },
  { path: "/users", action: "/users", typed: { username: "two words", parent: "nobody" } },
  { path: "/users/alice", action: "/users/alice/balance", typed: { amount: "-1" } },
  { path: "/users/alice", action: "/users/alice/keys", typed: { days: "0", allow: "here" } },
  { path: "/users/alice", action: "/users/alice/webhooks", typed: { url: "ftp://x" } },
  { path: "/users/alice", action: "/users/alice/prices", typed: { price: "dear" } },
  { path: "/users/alice", action: "/users/alice/limits", typed: { "open-orders": "many" } },
  { path: "/users/alice", action: "/users/alice/billing", typed: { address: "x", tax: "much" } },
  { path: "/invoices", action: "/invoicing", typed: { prefix: "2026", tax: "much" } },
  { path: "/invoices/2026-1", action: "/invoices/2026-1/correct", typed: { amount: "much" } },
  { path: "/users/alice", action: "/users/alice/discount", typed: { percent: "200" } },
  { path: "/payments/:payment", action: "/payments/:payment/approve", typed: { credit: "much" } },
  { path: "/payments/:payment", action: "/payments/:payment/reject" },
  { path: "/payments/:paid", action: "/payments/:paid/settle", typed: { amount: "all" } },
  { path: "/payments/:surplus", action: "/payments/:surplus/surplus", typed: { credit: "all" } },
  { path: "/payment-methods/bank", action: "/payment-methods/bank/terms", typed: { max: "much" } },
  { path: "/payment-methods/card", action: "/payment-methods/card/secrets" },
  {
    path: "/new-payment-method?kind=stripe",
    action: "/payment-methods",
    typed: { id: "A B", currency: "euro", resellers: "two words!", bonus: "1000" },
  },
  { path: "/new-service", action: "/services", typed: { min: "10", max: "1", price: "x" } },
  { path: "/services", action: "/service-prices/all", typed: { percent: "ten" } },
  { path: "/services/views", action: "/services/views", typed: { name: "", min: "99999" } },
  { path: "/services/views", action: "/services/views/routes", typed: { priority: "first" } },
  { path: "/import-services", action: "/import-services", typed: { csv: "name,price\nA,dear" } },
  {
    path: "/import-grants",
    action: "/import-grants",
    typed: { csv: "service,username\nno such,x" },
  },
  { path: "/providers", action: "/providers", typed: { name: "a b", url: "here" } },
  { path: "/providers/acme/prices", action: "/providers/acme/sync", typed: { only: "a b!" } },
  {
    path: "/providers/acme/prices",
    action: "/providers/acme/syncs",
    typed: { every: "often", categories: "Likes" },
  },
  { path: "/providers/acme/settings", action: "/providers/acme/hold", typed: { for: "often" } },
  { path: "/users/alice", action: "/users/alice/contact", typed: { email: "alice" } },
  { path: "/users/alice/members", action: "/users/alice/members", typed: { email: "alice" } },
  {
    path: "/providers/acme/unknown",
    action: "/providers/acme/unknown",
    typed: { nearby: "many" },
  },
  { path: "/alerts", action: "/alerts", typed: { chat: "family" } },
  { path: "/administrators", action: "/administrators", typed: { name: "Two Words" } },
  { path: "/account", action: "/account/password" },
];

/** Names and notes as people type them, and as those do who mean harm. */
export const HARMFUL = "<b>\u202eevil\u0000</b>\"'&\u200b<script>alert(1)</script>";

/** A webhook that fails, and whose address and answers mean harm. */
function failWebhook(panel: TestPanel): string {
  const { id } = panel.run("createWebhook", {
    username: "alice",
    url: "https://shop.example/hooks?a=<b>&c=\u202e",
    events: ALL_EVENTS,
    balanceLowBelow: null,
    secret: formatSecret(new Uint8Array(32)),
  });
  panel.run("testWebhook", { id });
  const due = { server: "a".repeat(24), limit: 10, perEndpoint: 10 };
  const reply = { httpStatus: 503, error: "http_status", response: HARMFUL.replace("\0", "") };
  const attempts = panel.run("takeDueWebhookDeliveries", due).map(({ deliveryId, attempt }) => ({
    deliveryId,
    attempt,
    at: Date.now(),
    durationMs: 12,
    retryAfterSeconds: null,
    ...reply,
  }));
  panel.run("recordWebhookAttempts", { attempts, jitter: 0 });
  return id;
}

/** A market with something of everything; the ids that stand for the parameters of PAGES. */
export function fillMarket(panel: TestPanel): Record<string, string> {
  panel.user("alice", "1000");
  panel.user("bob", "20", "alice");
  const seller = { sellerName: HARMFUL, sellerAddress: `${HARMFUL}\n${"long".repeat(40)}` };
  const changes = { mode: "credit", prefix: "2026-", taxPpm: 200_000, ...seller } as const;
  panel.run("setInvoicing", { changes });
  panel.run("creditUser", { username: "alice", amountMicros: 5_000_000, note: HARMFUL });
  panel.run("issueInvoices", { limit: 1 });
  panel.service({ id: "followers", name: "Followers" });
  panel.service({ id: "likes", name: "Likes, fast", price: "0.9" });
  const key = panel.key("alice", "full");
  panel.key("alice", "full", "all", true);
  const url = `https://hooks.example/${"long/".repeat(60)}`;
  panel.query(
    `INSERT INTO webhooks (id, reseller_account, url, events, secret, active, failures, created_at)
     SELECT ?, account, ?, '*', 's', 1, 0, 1 FROM users WHERE username = 'alice'`,
    "hook".repeat(6),
    url,
  );
  placeOrders(panel, key.id);
  fillCatalogue(panel, key.id);
  moveIn(panel, key.id);
  letMembersIn(panel);
  panel.administrator("sam", "support");
  panel.administrator("olga", "operator");
  panel.session("sam");
  panel.query("UPDATE administrators SET totp_secret = 'JBSWY3DPEHPK3PXP' WHERE name = 'olga'");
  const alert = { kind: "disk_low", subject: "disk", message: HARMFUL.replace("\0", "") } as const;
  panel.run("recordAlerts", { begun: [alert], ended: [] });
  panel.run("createAlertEndpoint", { target: { url: "https://alerts.example/" }, secret: "s" });
  return { webhook: failWebhook(panel), ...payIn(panel) };
}

/** A payment to decide on, with a file, and one that is paid and disputed. */
function payIn(panel: TestPanel): Record<string, string> {
  const payer = seedMember(panel, "payer");
  const steps = JSON.stringify([{ fromMicros: 100_000_000, ppm: 30_000 }]);
  const names = JSON.stringify({ en: "Bank transfer", es: HARMFUL.replace("\0", "") });
  seedMethod(panel, "bank", "manual", { names, feePpm: 29_000, bonusSteps: steps });
  const keys = JSON.stringify({ "secret-key": "sk_test_0123456789abcdef" });
  seedMethod(panel, "card", "stripe", { active: true, settings: keys, instructions: "{}" });
  const program = JSON.stringify({ secret: "s", "pay-url": "https://pay.example/?id={payment}" });
  seedMethod(panel, "program", "callback", { rateToUsd: "1.08", settings: program }, "EUR");
  const ask = (methodId: string, amount: number) =>
    askPayment(panel, { methodId, actor: payer, amount, now: panel.clock.now });
  const payment = ask("bank", 250);
  const file = {
    type: "image/png",
    bytes: 9,
    sha256: "0".repeat(64),
    data: "iVBORw0KGgo=",
  } as const;
  const reference = HARMFUL.replace("\0", "");
  panel.run("claimPayment", { id: payment, reference, file, isClaimed: true, actor: payer });
  const paid = ask("card", 100);
  const reading = {
    state: "paid",
    paymentId: paid,
    amountMicros: 100_000_000,
    currency: "USD",
    refundedMicros: 0,
    disputedMicros: 0,
    cause: null,
  } as const;
  const read = { id: paid, reference: "cs_test_a1b2c3d4e5f6", reads: 1 };
  panel.run("recordReading", { ...read, reading });
  panel.run("recordReading", { ...read, reading: { ...reading, disputedMicros: 100_000_000 } });
  const surplus = ask("card", 25);
  panel.run("approvePayment", { id: surplus, receivedMicros: null, creditMicros: null });
  const again = { ...reading, paymentId: surplus, amountMicros: 25_000_000 };
  panel.run("recordReading", {
    id: surplus,
    reference: "cs_test_f6e5d4c3b2a1",
    reads: 1,
    reading: again,
  });
  return { payment, paid, surplus };
}

/** Members in every state, and visitors who ask for an account. */
function letMembersIn(panel: TestPanel): void {
  const text = HARMFUL.replace("\0", "");
  const invite = (email: string, name: string | null, index: number) =>
    panel.run("inviteMember", {
      username: "alice",
      email,
      name,
      role: (["owner", "buyer", "viewer"] as const)[index]!,
      language: "en",
      invitationHash: String(index).padStart(64, "0"),
    });
  const [owner] = [
    invite("ann@alice.example", "Ann", 0),
    invite(`${"long".repeat(30)}@alice.example`, text, 1),
  ];
  panel.run("setMemberActive", { id: invite("off@alice.example", null, 2), active: false });
  const invitationHash = "0".repeat(64);
  panel.run("acceptInvitation", { site: "portal", invitationHash, passwordHash: "p" });
  const session = {
    id: "session-of-an-owner",
    hash: "0".repeat(64),
    address: "::1",
    userAgent: "",
  };
  const opened = { attempt: null, person: owner!, passwordHash: "p", session } as const;
  panel.run("openSession", { site: "portal", ...opened });
  panel.query("UPDATE members SET totp_secret = 'JBSWY3DPEHPK3PXP' WHERE id = ?", owner!);
  panel.run("register", {
    email: "eve@new.example",
    name: text,
    language: "pt-BR",
    limit: 1000,
    from: VISITOR,
  });
  panel.run("register", {
    email: "dan@new.example",
    name: "Dan",
    language: "ru",
    limit: 1000,
    from: VISITOR,
  });
}

/** What a market has that moved in from another panel: past orders, and a key of it. */
function moveIn(panel: TestPanel, keyId: string): void {
  panel.query(
    "INSERT INTO panel_import (id, orders_through, started_at, finished_at) VALUES (1, 0, 1700000000000, 1700000300000)",
  );
  panel.query(
    "INSERT INTO imported_users SELECT '1', account, 0 FROM users WHERE username = 'alice'",
  );
  panel.query("UPDATE keys SET imported = 1 WHERE id = ?", keyId);
  for (const [index, status] of ["COMPLETED", "PARTIAL", "CANCELLED"].entries()) {
    panel.query(
      `INSERT INTO past_orders SELECT ?, account, 12, ?, ?, 1000, 2320000, '${status}', 10, 0, 1690000000000, '3', '88'
       FROM users WHERE username = 'alice'`,
      900_001 + index,
      HARMFUL.replace("\0", ""),
      `https://example.com/${"long/".repeat(20)}`,
    );
  }
}

/** Orders by hand in several states, and one of which it is not known whether the provider has it. */
function placeOrders(panel: TestPanel, keyId: string): void {
  panel.run("createProvider", {
    name: "acme",
    protocol: "smm-api",
    url: "http://127.0.0.1:9/api/v2",
    key: "provider-key-0123456789",
  });
  panel.service({ id: "views", name: "Views", provider: { name: "acme", service: "7" } });
  const [{ account }] = panel.query<{ account: number }>(
    "SELECT account FROM users WHERE username = ?",
    "alice",
  ) as [{ account: number }];
  const links = [
    "https://example.com/p/1",
    `https://example.com/${"long".repeat(80)}`,
    "javascript:alert(1)",
  ];
  const place = (service: string, link: string) =>
    panel.run("placeOrder", {
      resellerAccount: Number(account),
      keyId,
      service,
      link,
      quantity: 1000,
    }).orderId;
  const numbers = [...links, "\u202eevil"].map((link) => place("followers", link));
  const [first, second, third] = numbers.map(String) as [string, string, string];
  panel.run("progressOrder", { id: first, startCount: 3572, remains: 157 });
  panel.run("transitionOrder", { id: second, to: "COMPLETED", note: null });
  panel.run("transitionOrder", { id: third, to: "CANCELLED", note: "<script>no</script>" });
  panel.run("updateService", { id: "followers", changes: { cancel: true, refill: true } });
  const asked = { resellerAccount: Number(account), keyId };
  panel.run("makeRequest", { ...asked, kind: "cancel", id: first });
  const { id: refill } = panel.run("makeRequest", { ...asked, kind: "refill", id: second });
  panel.run("decideRequest", { id: refill, decision: "decline", note: HARMFUL.replace("\0", "") });
  panel.run("grantService", { id: "likes", username: "alice", priceMicros: 500_000 });
  const orderId = place("views", "https://example.com/p/5");
  panel.attempt(orderId, { outcome: "unknown", cause: "no answer within 30 s" });
}

/** A price that changed, a grant, and orders of several days. */
function fillCatalogue(panel: TestPanel, keyId: string): void {
  const day = 86_400_000;
  const name = `Views ${HARMFUL.slice(0, 20)}`.replaceAll("\0", "");
  panel.run("updateService", {
    id: "views",
    changes: { name, priceMicros: 1_900_000, private: true },
  });
  panel.run("grantService", { id: "views", username: "alice", priceMicros: 1_500_000 });
  const [{ account }] = panel.query<{ account: number }>(
    "SELECT account FROM users WHERE username = 'alice'",
  ) as [{ account: number }];
  for (let ago = 6; ago >= 0; ago--) {
    for (const service of ["followers", "likes", "views"]) {
      const order = { resellerAccount: account, keyId, service, link: "https://example.com/me" };
      const at = panel.clock.now - ago * day;
      const { orderId } = panel.execute("placeOrder", { ...order, quantity: 1000 + 300 * ago }, at);
      if (ago !== 3 || service === "views") continue;
      const cancel = { id: String(orderId), to: "CANCELLED" as const, note: null };
      panel.execute("transitionOrder", { ...cancel, actor: { keyId: null, operator: "t" } }, at);
    }
  }
}
