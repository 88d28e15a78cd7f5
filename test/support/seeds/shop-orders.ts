// Orders of alice in a shop, delivered by hand and by a provider.

import { findUser } from "../../../src/db/users/users.ts";
import { PROVIDER_KEY, type Upstream } from "../peers/upstream.ts";
import type { Shop } from "../worlds/shop.ts";

/** Order 1 PROCESSING, 2 PARTIAL with 50 of 100 remaining, 3 CANCELLED. */
export async function seedEndedOrders(shop: Shop): Promise<Shop> {
  for (let made = 0; made < 3; made++) shop.order(100);
  await shop.cli("admin", "order", "partial", "2", "--remains", "50");
  await shop.cli("admin", "order", "cancel", "3");
  return shop;
}

/** The provider `acme` is this upstream. */
export function seedProvider(shop: Shop, { url }: Pick<Upstream, "url">): Shop {
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
  if (outcome === "sending") shop.attempt(orderId);
  if (outcome === "unknown") shop.attempt(orderId, { outcome, cause: "no answer within 30 s" });
  if (outcome === "placed") shop.attempt(orderId, { outcome: "accepted", providerOrder });
  return String(orderId);
}
