// The queue of webhooks on a fresh store, without a server.

import { createId } from "../../../src/db/port/ids.ts";
import type { AnyWebhook } from "../../../src/db/tables/webhooks.ts";
import { users } from "../../../src/db/tables/users.ts";
import { webhookDeliveries, webhookEvents, webhooks } from "../../../src/db/tables/webhooks.ts";
import { WEBHOOK_ATTEMPTS } from "../../../src/domain/webhooks/webhook-schedule.ts";
import { formatSecret } from "../../../src/domain/webhooks/webhooks.ts";
import { bitsOfEvents } from "../../../src/domain/webhooks/webhook-events.ts";
import type {
  CommandInput,
  CommandName,
  CommandOutput,
} from "../../../src/operations/batch/commands.ts";
import { execute } from "../../../src/operations/batch/execute.ts";
import type { Engine } from "../databases/engine.ts";
import { freshStore, insertUser, type TestStore } from "../databases/stores.ts";

export interface TestEndpoint {
  id: string;
  webhookId: number;
  account: number;
  secret: string;
}

export interface WebhookShop {
  store: TestStore;
  run<Name extends CommandName>(
    name: Name,
    input: CommandInput<Name>,
    now?: number,
  ): Promise<CommandOutput<Name>>;
  /** An endpoint of a new reseller, or of the account that is given. */
  endpoint(options?: EndpointOptions): Promise<TestEndpoint>;
  /** An event that waits for the endpoint since `at`; returns its id. */
  event(endpoint: TestEndpoint, at: number, body?: string): Promise<string>;
  webhook(endpoint: TestEndpoint): Promise<AnyWebhook>;
  deliveries(): Promise<Record<string, unknown>[]>;
}

interface EndpointOptions {
  url?: string;
  events?: string;
  failures?: number;
  account?: number;
  balanceLowBelow?: number;
}

export async function openWebhookShop(engine: Engine): Promise<WebhookShop> {
  const store = await freshStore(engine);
  return {
    store,
    run: async (name, input, now = 1000) => execute(store, name, input, now),
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
