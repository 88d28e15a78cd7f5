// Resellers, orders that go to providers, and the endpoints that hear of them, written by commands on a store without a server.

import type { Order } from "../../../src/db/orders/orders.ts";
import { createId } from "../../../src/db/port/ids.ts";
import { users } from "../../../src/db/tables/users.ts";
import {
  type AnyWebhook,
  webhookDeliveries,
  webhookEvents,
  webhooks,
} from "../../../src/db/tables/webhooks.ts";
import type { DeliveryDeps } from "../../../src/delivery/provider-worker.ts";
import { bitsOfEvents } from "../../../src/domain/webhooks/webhook-events.ts";
import { WEBHOOK_ATTEMPTS } from "../../../src/domain/webhooks/webhook-schedule.ts";
import { formatSecret } from "../../../src/domain/webhooks/webhooks.ts";
import { createLog } from "../../../src/monitoring/log.ts";
import type {
  CommandInput,
  CommandName,
  CommandOutput,
} from "../../../src/operations/batch/commands.ts";
import { execute } from "../../../src/operations/batch/execute.ts";
import type { ProviderApi } from "../../../src/providers/provider.ts";
import { systemClock } from "../../../src/scheduling/clock.ts";
import { insertUser, type TestStore } from "../databases/stores.ts";

const actor = { keyId: null, operator: "tester" };
const PLACE_RETRY_MS = 3_600_000;
/** Longer than a test takes. */
const NEVER_MS = 600_000;

export interface TestEndpoint {
  id: string;
  webhookId: number;
  account: number;
  secret: string;
}

interface EndpointOptions {
  url?: string;
  events?: string;
  failures?: number;
  account?: number;
  balanceLowBelow?: number;
}

interface ShopOptions {
  /** r0, r1 …, each with 100 USD and a key, and `likes`, which acme (7) delivers. None: the shop is empty. */
  resellers?: number;
  /** `likes` goes to acme (7), then to bulk (8), then to core (9): providers 1, 2 and 3. */
  hasRoutes?: boolean;
  /** The time of a command that is told none. */
  now?: () => number;
}

export interface StoreShop {
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
  /** An endpoint of a new reseller, or of the account that is given. */
  endpoint(options?: EndpointOptions): Promise<TestEndpoint>;
  /** An event that waits for the endpoint since `at`; returns its id. */
  event(endpoint: TestEndpoint, at: number, body?: string): Promise<string>;
  webhook(endpoint: TestEndpoint): Promise<AnyWebhook>;
  /** Returns the deliveries of webhooks, oldest first. */
  deliveries(): Promise<Record<string, unknown>[]>;
}

export async function seedStoreShop(
  store: TestStore,
  { resellers = 1, hasRoutes = false, now: clock = Date.now }: ShopOptions = {},
): Promise<StoreShop> {
  const run: StoreShop["run"] = async (name, input, now = clock()) =>
    execute(store, name, input, now);
  const callers: Caller[] = [];
  for (let index = 0; index < resellers; index += 1) callers.push(await reseller(run, index));
  if (resellers > 0) await delivered(run);
  if (hasRoutes) await routed(run);
  return {
    store,
    run,
    order(reseller = 0) {
      const caller = callers[reseller]!;
      const link = `https://example.com/${Bun.randomUUIDv7()}`;
      return run("placeOrder", { ...caller, service: "likes", link, quantity: 1000 });
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
    endpoint: (options = {}) =>
      store.run((tx) => {
        const { url = "https://example.test/", events = "*", failures = 0 } = options;
        const { balanceLowBelow = null } = options;
        const account = options.account ?? insertUser(tx, createId(), 100_000_000);
        const secret = formatSecret(crypto.getRandomValues(new Uint8Array(32)));
        const { webhookId, id } = tx.insert(webhooks, {
          id: createId(),
          resellerAccount: account,
          url,
          events,
          balanceLowBelow,
          secret,
          active: true,
          failures,
          failingSince: failures === 0 ? null : 1,
          createdAt: 1,
        });
        const wantedEvents = bitsOfEvents(events);
        tx.update(users, { account }, { wantedEvents, lowBalanceMicros: balanceLowBelow });
        return { id, webhookId, account, secret };
      }),
    event: ({ webhookId, account }, at, body = "{}") =>
      store.run((tx) => {
        const id = `evt_${createId()}`;
        const event = {
          id,
          resellerAccount: account,
          type: "webhook.test",
          body,
          createdAt: at,
        } as const;
        const { eventId } = tx.insert(webhookEvents, event);
        const delivery = {
          webhookId,
          eventId,
          state: "waiting",
          dueAt: at,
          tries: WEBHOOK_ATTEMPTS,
        } as const;
        tx.insert(webhookDeliveries, delivery);
        return id;
      }),
    webhook: ({ webhookId }) => store.run((tx) => tx.row(webhooks.byKey, webhookId)!),
    deliveries: async () => {
      const rows = await store.query(
        "SELECT delivery_id, state, server, attempts, failures, due_at, replay FROM webhook_deliveries ORDER BY delivery_id",
      );
      return rows.map((row) => ({
        ...row,
        attempts: Number(row["attempts"]),
        failures: Number(row["failures"]),
        replay: Number(row["replay"]),
      }));
    },
  };
}

interface Caller {
  resellerAccount: number;
  keyId: string;
}

async function reseller(run: StoreShop["run"], index: number): Promise<Caller> {
  const username = `r${index}`;
  const { account } = await run("createUser", { username, name: username, parent: null, actor });
  await run("creditUser", { username, amountMicros: 100_000_000, note: null, actor });
  const hash = String(index).padStart(64, "0");
  const key = { username, type: "full", reach: "all", label: "", hash, start: "rk_" } as const;
  const { id } = await run("createKey", { ...key, actor });
  return { resellerAccount: account, keyId: id };
}

function provider(run: StoreShop["run"], name: string) {
  const url = "http://127.0.0.1:1/";
  return run("createProvider", { name, protocol: "smm-api", url, key: "secret", actor });
}

async function delivered(run: StoreShop["run"]): Promise<void> {
  await provider(run, "acme");
  const terms = {
    priceMicros: 1_000_000,
    per: "1000",
    min: 1,
    max: 10_000,
    private: false,
  } as const;
  const upstream = { name: "acme", service: "7" };
  await run("createService", { id: "likes", name: "Likes", ...terms, provider: upstream, actor });
}

async function routed(run: StoreShop["run"]): Promise<void> {
  for (const [name, service] of [
    ["bulk", "8"],
    ["core", "9"],
  ] as const) {
    await provider(run, name);
    const route = { id: "likes", provider: name, providerService: service, priority: null };
    await run("putRoute", { ...route, actor });
  }
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
