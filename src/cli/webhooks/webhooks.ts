// `admin webhook …`: the commands for webhooks.

import { type Command, Option } from "commander";
import { countWaiting } from "../../db/webhooks/webhook-deliveries.ts";
import {
  type ListedWebhook,
  listWebhooks,
  type Webhook,
  withUsername,
} from "../../db/webhooks/webhooks.ts";
import type { Reader } from "../../db/port/port.ts";
import { findUser } from "../../db/users/users.ts";
import { refusal } from "../../domain/values/error-table.ts";
import { ALL_EVENTS } from "../../domain/webhooks/webhook-events.ts";
import {
  isDisabledByFailures,
  publicWebhook,
  SECRET_GRACE_LIMIT_SECONDS,
} from "../../domain/webhooks/webhooks.ts";
import { newSecret } from "../../webhooks/secrets.ts";
import { type CommonOptions, declare, declareGroup, withDatabase } from "../kernel/command.ts";
import { addWindow, inWindow, type WindowOptions } from "../output/list-pages.ts";
import { isoTime, print } from "../output/output.ts";
import { fields, table } from "../output/text-table.ts";
import { duration, username } from "../kernel/values.ts";
import {
  type Change,
  declareDeliveries,
  EXAMPLE_ID,
  ID,
  requireWebhook,
} from "./webhook-deliveries.ts";
import { addTerms, checkedUrl, type UrlPolicy } from "./webhook-values.ts";

interface Terms extends CommonOptions, UrlPolicy {
  events?: string;
  balanceLowBelow?: number | false;
}

export function declareWebhooks(admin: Command): void {
  const group = declareGroup(admin, "webhook", "webhooks of resellers");
  declareCreate(group);
  declareList(group);
  declareShow(group);
  declareUpdate(group);
  declareRotate(group);
  declareEnable(group);
  declareChange(group, "disable", "disableWebhook", "disable a webhook");
  declareChange(group, "delete", "deleteWebhook", "delete a webhook and print it");
  declareDeliveries(group);
}

function declareCreate(group: Command): void {
  const command = declare(
    group,
    "create",
    "create a webhook; its secret is shown only once",
    "reseller admin webhook create --user alice --url https://shop.example/hooks --balance-low-below 10",
  ).addOption(
    new Option("--user <username>", "the reseller it belongs to")
      .argParser(username)
      .makeOptionMandatory(),
  );
  addTerms(command, true).action(async (options: Terms & { user: string; url: string }) => {
    const { user, events = ALL_EVENTS } = options;
    const url = await checkedUrl(options.url, options, command);
    const balanceLowBelow = options.balanceLowBelow || null;
    const secret = newSecret();
    const input = { username: user, url, events, balanceLowBelow, secret };
    await printSecret(options, ({ execute }) => execute("createWebhook", input));
  });
}

function declareList(group: Command): void {
  const command = declare(
    group,
    "list",
    "list webhooks and what needs attention",
    "reseller admin webhook list --user alice",
  ).option("--user <username>", "only webhooks of this reseller", username);
  addWindow(command).action(async (options: CommonOptions & WindowOptions & { user?: string }) => {
    const webhooks = await withDatabase(options, ({ store }) =>
      store.read((reader) => {
        const found = listWebhooks(reader, accountOf(reader, options.user));
        return inWindow(options, found, ({ createdAt }) => createdAt).map((webhook) =>
          withUsername(reader, webhook),
        );
      }),
    );
    const listed = webhooks.map((each) => ({
      ...webhookJson(each),
      attention: attentionOf(each),
    }));
    print(options.json, listed, (rows) =>
      table(
        rows.map((row) => ({ ...shown(row), attention: row.attention.join("; ") })),
        "no webhooks yet: create one with `reseller admin webhook create`",
      ),
    );
  });
}

function declareShow(group: Command): void {
  declare(group, "show", "show a webhook", `reseller admin webhook show ${EXAMPLE_ID}`)
    .argument(...ID)
    .action(async (id: string, options: CommonOptions) => {
      const webhook = await withDatabase(options, ({ store }) =>
        store.read((reader) => {
          const found = requireWebhook(reader, id);
          const { failures, failingSince, disabledAt } = found;
          return {
            ...webhookJson(withUsername(reader, found)),
            disabledAt: isoTime(disabledAt),
            failures,
            failingSince: isoTime(failingSince),
            waiting: countWaiting(reader, found.webhookId),
          };
        }),
      );
      print(options.json, webhook, ({ events, ...row }) =>
        fields({ ...row, events: events.join(" ") }),
      );
    });
}

function declareUpdate(group: Command): void {
  const command = declare(
    group,
    "update",
    "change a webhook; settings that are not given stay unchanged",
    `reseller admin webhook update ${EXAMPLE_ID} --events order.completed,order.partial`,
  )
    .argument(...ID)
    .option("--no-balance-low-below", "stop sending balance.low");
  addTerms(command, false).action(async (id: string, options: Terms & { url?: string }) => {
    const { url, events, balanceLowBelow } = options;
    const changes = {
      ...(url !== undefined && { url: await checkedUrl(url, options, command) }),
      ...(events !== undefined && { events }),
      ...(typeof balanceLowBelow === "number" && { balanceLowBelow }),
      ...(balanceLowBelow === false && { balanceLowBelow: null }),
    };
    if (Object.keys(changes).length === 0) {
      command.error("error: give --url, --events, --balance-low-below or --no-balance-low-below.");
    }
    await printWebhook(options, ({ execute }) => execute("updateWebhook", { id, changes }));
  });
}

function declareRotate(group: Command): void {
  const command = declare(
    group,
    "rotate",
    "create a new secret; the old one also signs until its grace time ends",
    `reseller admin webhook rotate ${EXAMPLE_ID} --grace 24h`,
  )
    .argument(...ID)
    .addOption(
      new Option(
        "--grace <duration>",
        "how long the old secret still signs; 0: earlier secrets stop at once",
      )
        .argParser(duration)
        .default(duration("24h"), "24h"),
    )
    .action(async (id: string, options: CommonOptions & { grace: number }) => {
      const { grace: graceMs } = options;
      if (graceMs > SECRET_GRACE_LIMIT_SECONDS * 1000) {
        command.error("error: --grace must be at most 30d.");
      }
      const secret = newSecret();
      await printSecret(options, ({ execute }) =>
        execute("rotateWebhook", { id, secret, graceMs }),
      );
    });
}

function declareEnable(group: Command): void {
  declare(
    group,
    "enable",
    "enable a disabled webhook",
    `reseller admin webhook enable ${EXAMPLE_ID} --replay`,
  )
    .argument(...ID)
    .option("--replay", "also send the events stored while it was disabled")
    .action((id: string, options: CommonOptions & { replay?: true }) => {
      const { replay = false } = options;
      return printWebhook(options, ({ execute }) => execute("enableWebhook", { id, replay }));
    });
}

function declareChange(
  group: Command,
  verb: string,
  name: "disableWebhook" | "deleteWebhook",
  description: string,
): void {
  declare(group, verb, description, `reseller admin webhook ${verb} ${EXAMPLE_ID}`)
    .argument(...ID)
    .action((id: string, options: CommonOptions) =>
      printWebhook(options, ({ execute }) => execute(name, { id })),
    );
}

function accountOf(reader: Reader, name: string | undefined): number | undefined {
  if (name === undefined) return undefined;
  const user = findUser(reader, name);
  if (!user) throw refusal("user_not_found");
  return user.account;
}

async function changed(options: CommonOptions, change: Change<Webhook>): Promise<ListedWebhook> {
  return withDatabase(options, async (session) => {
    const webhook = await change(session);
    return session.store.read((reader) => withUsername(reader, webhook));
  });
}

async function printWebhook(options: CommonOptions, change: Change<Webhook>): Promise<void> {
  const webhook = await changed(options, change);
  print(options.json, webhookJson(webhook), (row) => fields(shown(row)));
}

/** Prints a webhook with its secret, which is never shown again. */
async function printSecret(options: CommonOptions, change: Change<Webhook>): Promise<void> {
  const webhook = await changed(options, change);
  const { secret } = webhook;
  print(options.json, { ...webhookJson(webhook), secret }, (row) =>
    [fields({ ...shown(row), secret }), "", "Keep the secret now: it is not shown again."].join(
      "\n",
    ),
  );
}

function webhookJson(webhook: ListedWebhook) {
  const { username: name } = webhook;
  return { ...publicWebhook(webhook), username: name };
}

/** Returns what needs the attention of the endpoint's owner. */
function attentionOf(webhook: ListedWebhook): string[] {
  const { disabledReason, disabledAt, failures, failingSince } = webhook;
  if (isDisabledByFailures(webhook))
    return [`disabled since ${isoTime(disabledAt)}: ${disabledReason}`];
  if (!webhook.active || failingSince === null) return [];
  return [`${failures} failures since ${isoTime(failingSince)}`];
}

/** Returns a webhook for a person, with its id and its reseller first. */
function shown({ id, username: name, active, events, ...row }: ReturnType<typeof webhookJson>) {
  return { id, username: name, active, ...row, events: events.join(" ") };
}
