// A shop with a provider, and orders of its services in every delivery state.

import { findUser } from "../../src/db/users/users.ts";
import { openShop, type Shop } from "./cli.ts";
import { PROVIDER_KEY, type Upstream } from "./upstream.ts";

/** A shop whose provider `acme` is this upstream. */
export function openProviderShop({ url }: Upstream): Shop {
  const shop = openShop();
  shop.run("createProvider", { name: "acme", protocol: "smm-api", url, key: PROVIDER_KEY });
  return shop;
}

/** An order of alice for a service of acme's, queued or in the delivery state `outcome`. */
export function orderOf(
  shop: Shop,
  outcome?: "unknown" | "sending" | "placed",
  providerOrder = "501",
): string {
  if (shop.query("SELECT 1 FROM services WHERE id = 'likes'").length === 0) {
    shop.service({ id: "likes", price: "2", provider: { name: "acme", service: "7" } });
  }
  const { account } = shop.read((reader) => findUser(reader, "alice"))!;
  const { id: keyId } = shop.key("alice", "full");
  const input = { resellerAccount: account, keyId, service: "likes", link: "x", quantity: 1000 };
  const { orderId } = shop.run("placeOrder", input);
  const placeRetryMs = 3_600_000;
  const started =
    outcome && shop.run("startAttempt", { orderId, providerId: 1, server: "test", placeRetryMs });
  if (started?.send && (outcome === "unknown" || outcome === "placed")) {
    const { attemptId } = started;
    const result =
      outcome === "placed"
        ? ({ outcome: "accepted", providerOrder } as const)
        : ({ outcome, cause: "no answer within 30 s" } as const);
    shop.run("finishAttempt", { orderId, attemptId, result, placeRetryMs, backoffMs: 1000 });
  }
  return String(orderId);
}
