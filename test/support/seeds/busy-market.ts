// A market after two months of trade: 30 resellers, 60 services with long names, 5 providers, 3,000 orders in all states.

import { below, randomFrom } from "../random/seeded.ts";
import type { TestPanel } from "../worlds/panel.ts";

const RESELLERS = 30;
const SERVICES = 60;
const PROVIDERS = ["northwind-smm", "growth-hub", "likes-factory", "panel-direct", "bulkreach"];
export const BUSY_ORDERS = 3000;
const DAYS = 60;
const DAY_MS = 86_400_000;

const PLATFORMS = ["Instagram", "TikTok", "YouTube", "Facebook", "Telegram", "X", "Spotify"];
const KINDS = [
  "Followers – real accounts, gradual start within 30 minutes, refill for 30 days",
  "Likes – from accounts with posts, up to 50,000 a day, no drop reported this year",
  "Views – high retention (60 to 90 seconds), worldwide, safe for monetised channels",
  "Comments – written by hand in English, one for each account, moderated",
  "Story views and profile visits, delivered evenly over 24 hours",
];

/** Fills the panel's database. The newest orders are of the last hour; `now`: the end of the two months. */
export function seedBusyMarket(panel: TestPanel, now: number = panel.clock.now): void {
  const random = randomFrom(33);
  const upTo = (count: number) => below(random, count);
  const pick = <T>(all: readonly T[]): T => all[upTo(all.length)]!;
  for (const name of PROVIDERS) {
    const address = { protocol: "smm-api", url: "http://127.0.0.1:9/api/v2" } as const;
    panel.run("createProvider", { name, ...address, key: "provider-key-0123456789" });
  }
  const services = Array.from({ length: SERVICES }, (_, at) => {
    const provider = at % 6 === 0 ? {} : { provider: { name: pick(PROVIDERS), service: `${at}` } };
    const name = `${PLATFORMS[at % PLATFORMS.length]} ${KINDS[at % KINDS.length]} [${1000 + at}]`;
    const price = (0.4 + upTo(900) / 100).toFixed(2);
    return panel.service({ id: `service-${at}`, name, price, min: 10, max: 100_000, ...provider });
  });
  const resellers = Array.from({ length: RESELLERS }, (_, at) => {
    const username = `${pick(["shop", "media", "boost", "social"])}-${pick(["berlin", "lagos", "austin", "dhaka"])}-${at}`;
    panel.user(username, String(500 + upTo(4000)));
    const [{ account }] = panel.query<{ account: number }>(
      "SELECT account FROM users WHERE username = ?",
      username,
    ) as [{ account: number }];
    return { resellerAccount: Number(account), keyId: panel.key(username, "full").id };
  });
  const ends = [
    "COMPLETED",
    "COMPLETED",
    "COMPLETED",
    "COMPLETED",
    "CANCELLED",
    "PARTIAL",
  ] as const;
  const operator = { actor: { keyId: null, operator: "panel:tester" } };
  for (let made = 0; made < BUSY_ORDERS; made++) {
    const at = now - Math.round((1 - made / BUSY_ORDERS) * DAYS * DAY_MS) - upTo(600_000);
    const link = `https://www.instagram.com/p/${upTo(1e9).toString(36)}/?utm_source=${made}`;
    const quantity = 100 + upTo(40) * 50;
    const order = { ...pick(resellers), service: pick(services), link, quantity };
    const { orderId, delivery } = panel.execute("placeOrder", order, at);
    const id = String(orderId);
    if (delivery) {
      const kind = upTo(100);
      if (made > BUSY_ORDERS - 20 && kind < 20) continue;
      if (kind < 1) {
        panel.attempt(orderId, { outcome: "unknown", cause: "no answer within 30 s" });
        continue;
      }
      if (kind < 4) {
        panel.attempt(orderId, { outcome: "refused", cause: "Link is private", outOfFunds: false });
        continue;
      }
      panel.attempt(orderId, { outcome: "accepted", providerOrder: String(8_000_000 + orderId) });
    }
    if (made > BUSY_ORDERS - 300 && upTo(3) > 0) continue;
    const to = pick(ends);
    const remains = to === "PARTIAL" ? { remains: Math.floor(quantity / 3) } : {};
    panel.execute(
      "transitionOrder",
      { id, to, note: null, ...remains, ...operator },
      at + 3_600_000,
    );
  }
}
