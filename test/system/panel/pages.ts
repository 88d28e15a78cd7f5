// The pages that are looked at in every view: a page that is added gets a line here. And what they show.

import type { TestPanel } from "../../support/panel.ts";

export interface LookedAt {
  name: string;
  path: string;
  /** Nobody is signed in. */
  isPublic?: true;
}

export const PAGES: readonly LookedAt[] = [
  { name: "sign-in", path: "/sign-in", isPublic: true },
  { name: "set-up", path: "/setup", isPublic: true },
  { name: "audit", path: "/audit" },
  { name: "audit-none", path: "/audit?subject=nothing" },
  { name: "audit-wrong", path: "/audit?from=yesterday" },
  { name: "services", path: "/services" },
  { name: "service", path: "/services/views" },
  { name: "services-import", path: "/import-services" },
  { name: "providers", path: "/providers" },
  { name: "provider", path: "/providers/acme" },
  { name: "reports", path: "/reports" },
  { name: "reports-by-service", path: "/reports?by=service" },
  { name: "system", path: "/system" },
  { name: "administrators", path: "/administrators" },
  { name: "account", path: "/account" },
  { name: "second-factor", path: "/account/second-factor" },
];

/** Names and notes as people type them, and as those do who mean harm. */
export const HARMFUL = "<b>\u202eevil\u0000</b>\"'&\u200b<script>alert(1)</script>";

/** A market with something of everything. */
export function fillMarket(panel: TestPanel): void {
  panel.user("alice", "1000");
  panel.user("bob", "20", "alice");
  panel.run("creditUser", { username: "alice", amountMicros: 5_000_000, note: HARMFUL });
  panel.service({ id: "followers", name: "Followers" });
  panel.service({ id: "likes", name: "Likes, fast", price: "0.9" });
  const { id: keyId } = panel.key("alice", "full");
  fillCatalogue(panel, keyId);
  panel.administrator("sam", "support");
  panel.administrator("olga", "operator");
  panel.session("sam");
}

/** A provider with a service, a price that changed, a grant, and orders of several days. */
function fillCatalogue(panel: TestPanel, keyId: string): void {
  const day = 86_400_000;
  panel.run("createProvider", {
    name: "acme",
    protocol: "smm-api",
    url: "https://acme.example/api/v2",
    key: "k",
  });
  const provider = { name: "acme", service: "7" };
  panel.service({
    id: "views",
    name: `Views ${HARMFUL.slice(0, 20)}`.replaceAll("\0", ""),
    provider,
  });
  panel.run("updateService", { id: "views", changes: { priceMicros: 1_900_000, private: true } });
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
