// A provider's bad night: orders at times of the test's own, some of them answered, some unknown, and what the provider
// has in its book. The user alice exists.

import { findUser } from "../../../src/db/users/users.ts";
import type { CommandInput } from "../../../src/operations/batch/commands.ts";
import type { TestDatabase } from "../databases/test-database.ts";
import { PROVIDER_KEY, type Upstream } from "../peers/upstream.ts";

/** Longer than an order may arrive after its submission ended. */
export const HOUR_MS = 3_600_000;
const PLACE_RETRY_MS = 24 * HOUR_MS;
/** The provider's rate for 1,000 units of its service 7. */
const RATE = "2.7819";

type Result = CommandInput<"finishAttempt">["result"];

export interface Night<World extends TestDatabase> {
  shop: World;
  /** A queued order of alice, placed then. */
  queued(at: number, quantity: number, service?: string): number;
  /** An order of alice that was sent then and accepted under the number, which the provider has in its book. */
  accepted(at: number, number: number, quantity?: number, service?: string): number;
  /** An order whose answer was lost. With a number, the provider has it. */
  unknown(at: number, quantity: number, number?: number): number;
  /** An order that is being sent since then. */
  sending(at: number, quantity: number): number;
  /** The provider has an order of that number, with the charge for the quantity. */
  has(number: number, quantity: number, status?: object): void;
}

/** Opens a night of `acme`, which delivers `likes` at 4 USD for 1,000 and lists a rate of 2.7819 for it. */
export function openNight<World extends TestDatabase>(
  shop: World,
  upstream: Upstream,
  balance = "1000",
): Night<World> {
  upstream.book.clear();
  const { url } = upstream;
  shop.run("createProvider", { name: "acme", protocol: "smm-api", url, key: PROVIDER_KEY });
  shop.service({
    id: "likes",
    price: "4",
    min: 1,
    max: 100_000,
    provider: { name: "acme", service: "7" },
  });
  shop.query(
    `INSERT INTO provider_rates (provider_id, provider_service, after_order, rate, unit, dripfeed, created_at)
    SELECT provider_id, '7', 0, '${RATE}', '1000', 0, 1 FROM providers WHERE name = 'acme'`,
  );
  shop.run("creditUser", {
    username: "alice",
    amountMicros: Number(balance) * 1_000_000,
    note: null,
  });
  const { account } = shop.read((reader) => findUser(reader, "alice"))!;
  const { id: keyId } = shop.key("alice", "full");
  const queued = (at: number, quantity: number, service = "likes"): number => {
    const link = `https://example.com/${at}/${quantity}`;
    const input = { resellerAccount: account, keyId, service, link, quantity };
    return shop.execute("placeOrder", input, at).orderId;
  };
  const send = (at: number, quantity: number, result: Result | null, service?: string): number => {
    const orderId = queued(at, quantity, service);
    const [order] = shop.query<{ provider: number }>(
      "SELECT provider_id AS provider FROM orders WHERE order_id = ?",
      orderId,
    );
    const start = {
      orderId,
      providerId: Number(order!.provider),
      server: "test",
      placeRetryMs: PLACE_RETRY_MS,
    };
    const { attemptId } = shop.execute("startAttempt", start, at) as { attemptId: number };
    const end = { orderId, attemptId, placeRetryMs: PLACE_RETRY_MS, backoffMs: 0 };
    if (result) shop.execute("finishAttempt", { ...end, result }, at + 100);
    return orderId;
  };
  const night: Night<World> = {
    shop,
    queued,
    accepted(at, number, quantity = 50, service = "likes") {
      night.has(number, quantity);
      const result = { outcome: "accepted", providerOrder: String(number) } as const;
      return send(at, quantity, result, service);
    },
    unknown(at, quantity, number) {
      if (number !== undefined) night.has(number, quantity);
      return send(at, quantity, { outcome: "unknown", cause: "no answer within 30 s" });
    },
    sending: (at, quantity) => send(at, quantity, null),
    has(number, quantity, status = {}) {
      upstream.book.set(String(number), {
        form: {},
        status: {
          charge: chargeOf(quantity),
          start_count: "0",
          status: "Pending",
          remains: String(quantity),
          currency: "USD",
          ...status,
        },
      });
    },
  };
  return night;
}

/** The provider's charge, to five decimals. */
function chargeOf(quantity: number): string {
  // In units of 10^-7: 2.7819 for 1,000 units.
  const exact = 27_819n * BigInt(quantity);
  const rounded = (exact + 50n) / 100n;
  const text = String(rounded).padStart(6, "0");
  return `${text.slice(0, -5)}.${text.slice(-5)}`;
}
