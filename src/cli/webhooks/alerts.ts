// `admin alert …`: the commands for alerts.

import { type Command, Option } from "commander";
import {
  type AlertEndpoint,
  listAlertEndpoints,
  listOpenAlerts,
} from "../../db/webhooks/alerts.ts";
import {
  CHAT_FORM,
  isChat,
  isTelegramToken,
  publicAlertEndpoint,
  TOKEN_FORM,
} from "../../domain/alerts/alert-endpoints.ts";
import { parseWebhookUrl } from "../../domain/webhooks/webhook-urls.ts";
import { EXAMPLE_ID } from "./webhook-deliveries.ts";
import { newSecret } from "../../webhooks/secrets.ts";
import { type CommonOptions, declare, declareGroup, withDatabase } from "../kernel/command.ts";
import { addWindow, inWindow, type WindowOptions } from "../output/list-pages.ts";
import { print } from "../output/output.ts";
import { readSecretFromStdin } from "../kernel/stdin.ts";
import { fields, table } from "../output/text-table.ts";

const ID = ["<id>", "the endpoint's id, as `alert list` shows it"] as const;

interface CreateOptions extends CommonOptions {
  url?: string;
  telegramChat?: string;
  tokenStdin?: true;
}

interface ListOptions extends CommonOptions, WindowOptions {
  open?: true;
}

export function declareAlerts(admin: Command): void {
  const group = declareGroup(admin, "alert", "what is wrong now, and where alerts are sent");
  declareCreate(group);
  declareList(group);
  declareTest(group);
  declareDelete(group);
}

function declareCreate(group: Command): void {
  const command = declare(
    group,
    "create",
    "send alerts to a Telegram chat or to a URL; the URL's secret is shown only once",
    "reseller admin alert create --telegram-chat 123456789 --token-stdin < bot.token",
  )
    .option("--telegram-chat <id>", CHAT_FORM)
    .option("--token-stdin", "read the token of the bot from stdin, up to its end")
    .addOption(
      new Option("--url <url>", "an http or https URL, in any network").conflicts([
        "telegramChat",
        "tokenStdin",
      ]),
    )
    .action(async (options: CreateOptions) => {
      if (options.url !== undefined) return createUrl(options, command);
      return createChat(options, command);
    });
}

async function createUrl(options: CreateOptions, command: Command): Promise<void> {
  const parsed = parseWebhookUrl(options.url!, true);
  if ("must" in parsed) return command.error(`error: --url must be ${parsed.must}.`);
  const secret = newSecret();
  const target = { url: parsed.url };
  const endpoint = await withDatabase(options, ({ execute }) =>
    execute("createAlertEndpoint", { target, secret }),
  );
  print(options.json, { ...publicAlertEndpoint(endpoint), secret }, (row) =>
    [fields({ ...row }), "", "Keep the secret now: it is not shown again."].join("\n"),
  );
}

async function createChat(options: CreateOptions, command: Command): Promise<void> {
  const { telegramChat, tokenStdin } = options;
  if (telegramChat === undefined || !tokenStdin) {
    command.error("error: give --telegram-chat with --token-stdin, or --url.");
  }
  if (!isChat(telegramChat)) command.error(`error: --telegram-chat must be ${CHAT_FORM}.`);
  const token = (await readSecretFromStdin())?.trim() ?? "";
  if (!isTelegramToken(token)) command.error(`error: stdin must hold ${TOKEN_FORM}.`);
  const target = { telegramChat };
  await printEndpoint(options, ({ execute }) =>
    execute("createAlertEndpoint", { target, secret: token }),
  );
}

function declareList(group: Command): void {
  const command = declare(
    group,
    "list",
    "list destinations of alerts, or with --open what is wrong, as of at most 10 seconds ago",
    "reseller admin alert list --open",
  ).option("--open", "list ongoing alerts");
  addWindow(command).action(async (options: ListOptions) => {
    if (options.open) return listOpen(options);
    const all = await withDatabase(options, ({ store }) => store.read(listAlertEndpoints));
    const endpoints = inWindow(options, all, ({ createdAt }) => createdAt);
    print(options.json, endpoints.map(publicAlertEndpoint), (rows) =>
      table(
        rows.map((row) => ({ ...row })),
        "no destinations yet: see `reseller admin alert create --help`",
      ),
    );
  });
}

async function listOpen(options: ListOptions): Promise<void> {
  const open = await withDatabase(options, ({ store }) => store.read(listOpenAlerts));
  const rows = inWindow(options, open, ({ raisedAt }) => raisedAt).map(
    ({ kind, subject, message, raisedAt }) => ({
      kind,
      subject,
      message,
      since: new Date(raisedAt).toISOString(),
    }),
  );
  print(options.json, rows, (shown) => table(shown, "nothing is wrong"));
}

function declareTest(group: Command): void {
  declare(
    group,
    "test",
    "send a test alert once; a running server sends it",
    `reseller admin alert test ${EXAMPLE_ID}`,
  )
    .argument(...ID)
    .action(async (id: string, options: CommonOptions) => {
      const queued = await withDatabase(options, ({ execute }) =>
        execute("testAlertEndpoint", { id }),
      );
      print(options.json, { queued }, fields);
    });
}

function declareDelete(group: Command): void {
  declare(
    group,
    "delete",
    "delete a destination and print it",
    `reseller admin alert delete ${EXAMPLE_ID}`,
  )
    .argument(...ID)
    .action((id: string, options: CommonOptions) =>
      printEndpoint(options, ({ execute }) => execute("deleteAlertEndpoint", { id })),
    );
}

async function printEndpoint(
  options: CommonOptions,
  change: Parameters<typeof withDatabase<AlertEndpoint>>[1],
): Promise<void> {
  const endpoint = await withDatabase(options, change);
  print(options.json, publicAlertEndpoint(endpoint), (row) => fields({ ...row }));
}
