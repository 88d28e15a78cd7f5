// `admin webhook …`

import { randomBytes } from "node:crypto";
import { type Command, Option } from "commander";
import { countWaiting, listWebhookAttempts } from "../db/webhook-deliveries.ts";
import {
  findWebhook,
  type ListedWebhook,
  listWebhooks,
  type Webhook,
  withUsername,
} from "../db/webhooks.ts";
import type { Reader } from "../db/port.ts";
import { findUser } from "../db/users.ts";
import { refusal } from "../domain/refusals.ts";
import { ALL_EVENTS } from "../domain/webhook-events.ts";
import {
  formatSecret,
  publicDelivery,
  publicWebhook,
  REPLAY_LIMIT_MS,
  SECRET_GRACE_LIMIT_SECONDS,
  WEBHOOK_SECRET_BYTES,
} from "../domain/webhooks.ts";
import {
  type CommonOptions,
  declare,
  declareGroup,
  type Session,
  withDatabase,
} from "./command.ts";
import { print } from "./output.ts";
import { fields, table } from "./text-table.ts";
import { duration, limit, since, username } from "./values.ts";
import { addTerms, checkedUrl, type UrlPolicy } from "./webhook-values.ts";

const EXAMPLE_ID = "q3c8m0vz5k7r1t9w2x4y6b8n";
const DELIVERIES_DEFAULT = 50;
const ID = ["<id>", "the webhook's id, as `webhook list` shows it"] as const;

interface Terms extends CommonOptions, UrlPolicy {
  events?: string;
  balanceLowBelow?: number | false;
}

export function declareWebhooks(admin: Command): void {
  const group = declareGroup(admin, "webhook", "where resellers are sent what happens");
  declareCreate(group);
  declareList(group);
  declareShow(group);
  declareUpdate(group);
  declareTest(group);
  declareRotate(group);
  declareEnable(group);
  declareChange(group, "disable", "disableWebhook", "send nothing to a webhook any more");
  declareChange(group, "delete", "deleteWebhook", "delete a webhook, shown as it was");
  declareDeliveries(group);
  declareReplay(group);
}

function declareCreate(group: Command): void {
  const command = declare(
    group,
    "create",
    "make a webhook; its secret is shown this once only",
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
  declare(group, "list", "list webhooks", "reseller admin webhook list --user alice")
    .option("--user <username>", "only this reseller's", username)
    .action(async (options: CommonOptions & { user?: string }) => {
      const webhooks = await withDatabase(options, ({ store }) =>
        store.read((reader) =>
          listWebhooks(reader, accountOf(reader, options.user)).map((webhook) =>
            withUsername(reader, webhook),
          ),
        ),
      );
      print(options.json, webhooks.map(webhookJson), (rows) =>
        table(rows.map(shown), "no webhooks yet: create one with `reseller admin webhook create`"),
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
    "change a webhook; what is not given stays as it is",
    `reseller admin webhook update ${EXAMPLE_ID} --events order.completed,order.partial`,
  )
    .argument(...ID)
    .option("--no-balance-low-below", "send balance.low no more");
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

function declareTest(group: Command): void {
  declare(
    group,
    "test",
    "send a webhook.test event, to a disabled webhook too",
    `reseller admin webhook test ${EXAMPLE_ID}`,
  )
    .argument(...ID)
    .action((id: string, options: CommonOptions) =>
      printQueued(options, ({ execute }) => execute("testWebhook", { id })),
    );
}

function declareRotate(group: Command): void {
  const command = declare(
    group,
    "rotate",
    "make a new secret; the old one signs beside it for a while",
    `reseller admin webhook rotate ${EXAMPLE_ID} --grace 24h`,
  )
    .argument(...ID)
    .addOption(
      new Option("--grace <duration>", "how long the old secret still signs; 0: no longer")
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
    "send to a disabled webhook again",
    `reseller admin webhook enable ${EXAMPLE_ID} --replay`,
  )
    .argument(...ID)
    .option("--replay", "send what was kept meanwhile too")
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

function declareDeliveries(group: Command): void {
  declare(
    group,
    "deliveries",
    "list what was sent to a webhook in the last 30 days, newest first",
    `reseller admin webhook deliveries ${EXAMPLE_ID}`,
  )
    .argument(...ID)
    .addOption(
      new Option("--limit <number>", "how many").argParser(limit).default(DELIVERIES_DEFAULT),
    )
    .action(async (id: string, options: CommonOptions & { limit: number }) => {
      const { rows } = await withDatabase(options, ({ store }) =>
        store.read((reader) => {
          const webhook = requireWebhook(reader, id);
          return listWebhookAttempts(reader, webhook, Number.MAX_SAFE_INTEGER, options.limit);
        }),
      );
      print(options.json, rows.map(publicDelivery), (deliveries) =>
        table(
          deliveries.map(({ webhookId: _, eventId: __, response: ___, ...row }) => row),
          "nothing was sent yet",
        ),
      );
    });
}

function declareReplay(group: Command): void {
  const command = declare(
    group,
    "replay",
    "send once more: one delivery, or all that failed since a time",
    `reseller admin webhook replay ${EXAMPLE_ID} --since 24h`,
  )
    .argument(...ID)
    .option("--delivery <id>", "a delivery, as `webhook deliveries` shows it")
    .option("--since <time>", "all that failed since then, at most 14 days ago", since)
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

function newSecret(): string {
  return formatSecret(randomBytes(WEBHOOK_SECRET_BYTES));
}

function requireWebhook(reader: Reader, id: string): Webhook {
  const webhook = findWebhook(reader, id);
  if (!webhook) throw refusal("webhook_not_found");
  return webhook;
}

function accountOf(reader: Reader, name: string | undefined): number | undefined {
  if (name === undefined) return undefined;
  const user = findUser(reader, name);
  if (!user) throw refusal("user_not_found");
  return user.account;
}

type Change<T> = (session: Session) => T | Promise<T>;

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

/** The only time that a secret is shown. */
async function printSecret(options: CommonOptions, change: Change<Webhook>): Promise<void> {
  const webhook = await changed(options, change);
  const { secret } = webhook;
  print(options.json, { ...webhookJson(webhook), secret }, (row) =>
    [fields({ ...shown(row), secret }), "", "Keep the secret now: it is not shown again."].join(
      "\n",
    ),
  );
}

async function printQueued(options: CommonOptions, change: Change<number>): Promise<void> {
  const queued = await withDatabase(options, change);
  print(options.json, { queued }, fields);
}

function webhookJson(webhook: ListedWebhook) {
  const { username: name } = webhook;
  return { ...publicWebhook(webhook), username: name };
}

function shown({ events, ...row }: ReturnType<typeof webhookJson>) {
  return { ...row, events: events.join(" ") };
}

function isoTime(milliseconds: number | null): string | null {
  return milliseconds === null ? null : new Date(milliseconds).toISOString();
}
