// `admin webhook test|deliveries|replay`: sends a test event, lists what was sent, and sends it again.

import type { Command } from "commander";
import type { Reader } from "../../db/port/port.ts";
import { listWebhookAttempts } from "../../db/webhooks/webhook-deliveries.ts";
import { findWebhook, type Webhook } from "../../db/webhooks/webhooks.ts";
import { refusal } from "../../domain/values/error-table.ts";
import { publicAttempt, REPLAY_LIMIT_MS } from "../../domain/webhooks/webhooks.ts";
import { type CommonOptions, declare, type Session, withDatabase } from "../kernel/command.ts";
import { print } from "../output/output.ts";
import { fields, table } from "../output/text-table.ts";
import {
  addPaging,
  addWindow,
  printMore,
  type WindowOptions,
  windowOf,
} from "../output/list-pages.ts";
import { firstNumber, since } from "../kernel/values.ts";

export const EXAMPLE_ID = "q3c8m0vz5k7r1t9w2x4y6b8n";
export const ID = ["<id>", "the webhook's id, as `webhook list` shows it"] as const;
const DELIVERIES_DEFAULT = 50;

export function declareDeliveries(group: Command): void {
  declareTest(group);
  declareList(group);
  declareReplay(group);
}

function declareTest(group: Command): void {
  declare(
    group,
    "test",
    "send a webhook.test event, even to a disabled webhook",
    `reseller admin webhook test ${EXAMPLE_ID}`,
  )
    .argument(...ID)
    .action((id: string, options: CommonOptions) =>
      printQueued(options, ({ execute }) => execute("testWebhook", { id })),
    );
}

interface DeliveryOptions extends CommonOptions, WindowOptions {
  limit: number;
  cursor?: number;
}

function declareList(group: Command): void {
  const command = declare(
    group,
    "deliveries",
    "list what was sent to a webhook in the last 30 days, newest first",
    `reseller admin webhook deliveries ${EXAMPLE_ID}`,
  ).argument(...ID);
  addWindow(command);
  addPaging(command, { what: "seq", parse: firstNumber }, DELIVERIES_DEFAULT).action(
    async (id: string, options: DeliveryOptions) => {
      const { rows, next } = await withDatabase(options, ({ store }) =>
        store.read((reader) => {
          const webhook = requireWebhook(reader, id);
          const { cursor: below = Number.MAX_SAFE_INTEGER } = options;
          return listWebhookAttempts(reader, webhook, below, options.limit, windowOf(options));
        }),
      );
      print(options.json, rows.map(publicAttempt), (deliveries) =>
        table(
          deliveries.map(({ id: delivery, type, attempt, at, durationMs, httpStatus, error }) => ({
            type,
            attempt,
            at,
            ms: durationMs,
            status: httpStatus,
            error,
            id: delivery,
          })),
          "nothing was sent",
        ),
      );
      printMore(options, next === null ? [] : rows, () => next!);
    },
  );
}

function declareReplay(group: Command): void {
  const command = declare(
    group,
    "replay",
    "send again: one delivery, or all that failed since a time",
    `reseller admin webhook replay ${EXAMPLE_ID} --since 24h`,
  )
    .argument(...ID)
    .option("--delivery <id>", "a delivery, as `webhook deliveries` shows it")
    .option(
      "--since <time>",
      "all deliveries that failed since this time, at most 14 days ago",
      since,
    )
    .action(async (id: string, options: CommonOptions & { delivery?: string; since?: number }) => {
      const { delivery, since: from } = options;
      if ((delivery === undefined) === (from === undefined)) {
        command.error("error: give --delivery or --since.");
      }
      if (from !== undefined && from < Date.now() - REPLAY_LIMIT_MS - 1000) {
        command.error("error: --since must be at most 14 days ago.");
      }
      const what = delivery === undefined ? { since: from! } : { delivery };
      await printQueued(options, ({ execute }) => execute("replayWebhook", { id, what }));
    });
}

/** Returns the webhook. Refuses: webhook_not_found. */
export function requireWebhook(reader: Reader, id: string): Webhook {
  const webhook = findWebhook(reader, id);
  if (!webhook) throw refusal("webhook_not_found");
  return webhook;
}

export type Change<T> = (session: Session) => T | Promise<T>;

async function printQueued(options: CommonOptions, change: Change<number>): Promise<void> {
  const queued = await withDatabase(options, change);
  print(options.json, { queued }, fields);
}
