// The endpoints of the simulated resellers.

import type { Market } from "./market.ts";

const SOME = ["order.completed", "order.partial", "order.failed", "balance.credited"];

/** None, or up to three. `keyId`: of the reseller's program, which makes them; null: the operator does. */
export function addEndpoints(
  { world, run, webhookAuditor }: Market,
  reseller: string,
  creditMicros: number,
  keyId: string | null = null,
): void {
  const { chance } = world;
  const count = chance.whole(0, 3);
  for (let index = 0; index < count; index += 1) {
    const events = chance.pick([["*"], ["*", "order.progress"], SOME]);
    const url = `https://${reseller.replace(":", "-")}-${index}.test/`;
    const balanceLowBelow = chance.happens(0.5) ? chance.whole(1, creditMicros) : null;
    const { id } = run("createWebhook", {
      username: keyId === null ? reseller : null,
      url,
      events: events.join(","),
      balanceLowBelow,
      secret: `whsec_${Buffer.alloc(32, index).toString("base64")}`,
      actor: { keyId, operator: keyId === null ? "sim" : null },
    });
    const isDead = chance.happens(0.1);
    webhookAuditor.registered({ id, url, reseller, events, balanceLowBelow, isDead });
  }
}
