// Users, services and orders that the pages of a panel show.

import type { TestPanel } from "../worlds/panel.ts";

export interface PanelMarket extends TestPanel {
  /** The number of a new order of alice's, at 0.232 USD unless the quantity is another than 100. */
  order(fields?: { user?: string; link?: string; quantity?: number; service?: string }): number;
  /** An order at the provider: not known whether it was placed, placed under a number, or still queued. */
  delivered(state: "queued" | "unknown" | { placed: string }): number;
  status(orderId: number): string;
}

/** alice, her child user kid, bob, a manual service, and one that a provider delivers. */
export function seedPanelMarket(panel: TestPanel): PanelMarket {
  panel.user("alice", "100");
  panel.user("bob", "50");
  panel.user("kid", "7", "alice");
  panel.service({ id: "followers", name: "Followers", price: "2.32", min: 1 });
  panel.run("createProvider", {
    name: "acme",
    protocol: "smm-api",
    url: "http://127.0.0.1:9/api/v2",
    key: "provider-key-0123456789",
  });
  const provided = { name: "acme", service: "7" };
  panel.service({ id: "likes", name: "Likes", price: "1", min: 1, provider: provided });
  const keys = new Map(["alice", "bob"].map((user) => [user, panel.key(user, "full").id]));
  const accountOf = (username: string) =>
    Number(panel.query("SELECT account FROM users WHERE username = ?", username)[0]!["account"]);

  const order: PanelMarket["order"] = ({
    user = "alice",
    link = "https://example.com/p",
    quantity = 100,
    service = "followers",
  } = {}) => {
    const resellerAccount = accountOf(user);
    const keyId = keys.get(user)!;
    return panel.run("placeOrder", { resellerAccount, keyId, service, link, quantity }).orderId;
  };
  const delivered: PanelMarket["delivered"] = (state) => {
    const orderId = order({ service: "likes" });
    if (state === "queued") return orderId;
    panel.attempt(
      orderId,
      state === "unknown"
        ? { outcome: "unknown", cause: "no answer within 30 s" }
        : { outcome: "accepted", providerOrder: state.placed },
    );
    return orderId;
  };
  return {
    ...panel,
    order,
    delivered,
    status: (orderId) =>
      String(panel.query("SELECT status FROM orders WHERE order_id = ?", orderId)[0]!["status"]),
  };
}
