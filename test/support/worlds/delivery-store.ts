// A shop on either engine whose orders go to a provider, for the commands and the workers of the deliveries.

import type { Order } from "../../../src/db/orders/orders.ts";
import type { ProviderApi } from "../../../src/providers/provider.ts";
import type { DeliveryDeps } from "../../../src/delivery/provider-worker.ts";
import { systemClock } from "../../../src/scheduling/clock.ts";
import { createLog } from "../../../src/monitoring/log.ts";
import type {
  CommandInput,
  CommandName,
  CommandOutput,
} from "../../../src/operations/batch/commands.ts";
import { execute } from "../../../src/operations/batch/execute.ts";
import type { Engine } from "../databases/engine.ts";
import { freshStore, type TestStore } from "../databases/stores.ts";

const actor = { keyId: null, operator: "tester" };
const PLACE_RETRY_MS = 3_600_000;
/** Longer than a test takes. */
const NEVER_MS = 600_000;

export interface DeliveryShop {
  store: TestStore;
  run<Name extends CommandName>(
    name: Name,
    input: CommandInput<Name>,
    now?: number,
  ): Promise<CommandOutput<Name>>;
  /** An order of 1 USD by one of the resellers r0, r1 …; queued, due at once. */
  order(reseller?: number): Promise<Order>;
  start(
    orderId: number,
    server: string,
    now?: number,
    providerId?: number,
  ): Promise<CommandOutput<"startAttempt">>;
  /** The order's row, and the balance of its reseller. */
  state(orderId: number): Promise<{ status: string; placement: string; balance: number }>;
  /** Renews the lease of a server: it lives until `die`. */
  live(server: string): Promise<unknown>;
  /** Its lease ends. */
  die(server: string): Promise<unknown>;
  /** What a server's deliveries depend on. */
  server(serverId: string, api: Partial<ProviderApi>): DeliveryDeps;
}

/** Resellers with 100 USD each. */
export async function openDeliveryShop(engine: Engine, resellers = 1): Promise<DeliveryShop> {
  const store = await freshStore(engine);
  const run: DeliveryShop["run"] = async (name, input, now = Date.now()) =>
    execute(store, name, input, now);
  const keys: { account: number; keyId: string }[] = [];
  for (let index = 0; index < resellers; index += 1) {
    const username = `r${index}`;
    const { account } = await run("createUser", { username, name: username, parent: null, actor });
    await run("creditUser", { username, amountMicros: 100_000_000, note: null, actor });
    const hash = String(index).padStart(64, "0");
    const key = { username, type: "full", reach: "all", label: "", hash, start: "rk_" } as const;
    const { id } = await run("createKey", { ...key, actor });
    keys.push({ account, keyId: id });
  }
  const url = "http://127.0.0.1:1/";
  await run("createProvider", { name: "acme", protocol: "smm-api", url, key: "secret", actor });
  const provider = { name: "acme", service: "7" };
  const terms = {
    priceMicros: 1_000_000,
    per: "1000",
    min: 1,
    max: 10_000,
    private: false,
  } as const;
  await run("createService", { id: "likes", name: "Likes", ...terms, provider, actor });
  return {
    store,
    run,
    order(reseller = 0) {
      const { account: resellerAccount, keyId } = keys[reseller]!;
      const link = `https://example.com/${Bun.randomUUIDv7()}`;
      return run("placeOrder", { resellerAccount, keyId, service: "likes", link, quantity: 1000 });
    },
    start: (orderId, server, now, providerId = 1) =>
      run("startAttempt", { orderId, providerId, server, placeRetryMs: PLACE_RETRY_MS }, now),
    async state(orderId) {
      const [row] = await store.query(
        `SELECT status, placement, balance_micros AS balance FROM orders
        JOIN users ON account = reseller_account WHERE order_id = ${orderId}`,
      );
      const { status, placement, balance } = row as Record<string, string>;
      return { status: status!, placement: placement!, balance: Number(balance) };
    },
    live: (id) => run("renewLease", { id, name: id, ended: [] }),
    die: (id) => run("endLease", { id }),
    server: (serverId, api) => ({
      store,
      serverId,
      writer: { submit: (name, input) => run(name, input) },
      log: createLog("silent"),
      clock: systemClock,
      random: () => 0,
      settings: {
        placeWaitMs: NEVER_MS,
        placeRetryMs: PLACE_RETRY_MS,
        pollIntervalMs: 1000,
        pauseAfter: 0,
      },
      connect: () => ({ ...NO_API, ...api }),
    }),
  };
}

/** The service `likes` goes to acme (7), then to bulk (8), then to core (9); providers 1, 2 and 3. */
export async function openRoutes(engine: Engine): Promise<DeliveryShop> {
  const shop = await openDeliveryShop(engine);
  for (const [name, service] of [
    ["bulk", "8"],
    ["core", "9"],
  ] as const) {
    const url = "http://127.0.0.1:1/";
    await shop.run("createProvider", { name, protocol: "smm-api", url, key: "secret", actor });
    const route = { id: "likes", provider: name, providerService: service, priority: null };
    await shop.run("putRoute", { ...route, actor });
  }
  return shop;
}

const unexpected = () => Promise.reject(new Error("not to be called"));
const NO_API: ProviderApi = {
  submit: unexpected,
  status: unexpected,
  cancel: unexpected,
  refill: unexpected,
  refillStatus: unexpected,
  services: unexpected,
  balance: unexpected,
};
