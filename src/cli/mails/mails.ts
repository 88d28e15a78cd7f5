// `admin mail …`: the e-mails that were queued, those that failed, and a test of the mail server.

import { type Command, Option } from "commander";
import { ConfigError, settingOption } from "../../config/flags.ts";
import { missingForMail } from "../../config/mail-values.ts";
import type { Config } from "../../config/settings.ts";
import { findMail, listMails, listMailsFailedFirst } from "../../db/mails/mails.ts";
import type { Mail } from "../../db/tables/mails.ts";
import { findUserByAccount } from "../../db/users/users.ts";
import type { Reader } from "../../db/port/port.ts";
import { refusal } from "../../domain/values/error-table.ts";
import {
  CommandFailure,
  type CommonOptions,
  declare,
  declareGroup,
  withDatabase,
} from "../kernel/command.ts";
import { email, firstNumber, limit } from "../kernel/values.ts";
import { addWindow, type WindowOptions, windowOf } from "../output/list-pages.ts";
import { isoTime, print } from "../output/output.ts";
import { fields, table } from "../output/text-table.ts";

const LISTED_DEFAULT = 50;
/** Limit for the failed mails that one command sends again. */
const RETRIED_LIMIT = 1000;

export function declareMails(admin: Command): void {
  const group = declareGroup(admin, "mail", "e-mails to members, visitors and you");
  declareTest(group);
  declareList(group);
  declareShow(group);
  declareRetry(group);
}

type TestOptions = CommonOptions &
  Pick<Config, "smtp" | "smtpPassword" | "mailFrom" | "mailOperator" | "brand">;

function declareTest(group: Command): void {
  declare(
    group,
    "test",
    "send an e-mail at once, without the queue, and print what the mail server answers",
    "reseller admin mail test you@example.com",
  )
    .argument("<address>", "who gets it", email)
    .addOption(settingOption("smtp"))
    .addOption(settingOption("smtp-password"))
    .addOption(settingOption("mail-from"))
    .addOption(settingOption("mail-operator"))
    .addOption(settingOption("brand"))
    .action(async (to: string, options: TestOptions) => {
      const { smtp: server, smtpPassword: password, mailFrom: from } = options;
      const missing = missingForMail(options);
      if (missing !== null) throw new ConfigError(missing);
      if (server === null || from === null) throw new ConfigError("set --smtp and --mail-from");
      // Loaded only here: most commands send nothing.
      const { createMailSender, testMail } = await import("../../mails/smtp.ts");
      const send = createMailSender({ server, password, from });
      const mail = testMail(to, from, options.brand, new Date());
      const { error, reply } = await send(mail, new AbortController().signal);
      if (error !== null) throw new CommandFailure(`not sent (${error}): ${reply ?? "no answer"}`);
      print(options.json, { to, reply }, () => `sent to ${to}: ${reply}`);
    });
}

interface ListOptions extends CommonOptions, WindowOptions {
  limit: number;
  failed?: boolean;
}

function declareList(group: Command): void {
  const command = declare(
    group,
    "list",
    "list e-mails of the last 60 days, those that failed first",
    "reseller admin mail list --failed",
  )
    .option("--failed", "only those that failed")
    .addOption(
      new Option("--limit <number>", "at most this many").argParser(limit).default(LISTED_DEFAULT),
    );
  addWindow(command).action(async (options: ListOptions) => {
    const rows = await withDatabase(options, ({ store }) =>
      store.read((reader) => listed(reader, options).map((mail) => mailJson(reader, mail))),
    );
    print(options.json, rows, (shown) =>
      table(
        shown.map(({ id, kind, to, user, state, attempts, error, createdAt }) => ({
          id,
          kind,
          to,
          user,
          state,
          attempts,
          error,
          created: createdAt,
        })),
        "no e-mails",
      ),
    );
  });
}

function listed(reader: Reader, options: ListOptions): Mail[] {
  const window = windowOf(options);
  if (options.failed) return listMails(reader, options.limit, true, window);
  return listMailsFailedFirst(reader, options.limit, window);
}

function declareShow(group: Command): void {
  declare(group, "show", "show an e-mail and what became of it", "reseller admin mail show 17")
    .argument("<id>", "the e-mail, as `mail list` shows it", firstNumber)
    .action(async (id: number, options: CommonOptions) => {
      const shown = await withDatabase(options, ({ store }) =>
        store.read((reader) => {
          const mail = findMail(reader, id);
          if (!mail) throw refusal("mail_not_found");
          return { ...mailJson(reader, mail), data: JSON.parse(mail.data) as object };
        }),
      );
      print(options.json, shown, ({ data, ...rest }) => fields({ ...rest, ...data }));
    });
}

function declareRetry(group: Command): void {
  const command = declare(
    group,
    "retry",
    "send an e-mail that failed or was dropped again, or all that failed",
    "reseller admin mail retry 17",
  )
    .argument("[id]", "the e-mail, as `mail list` shows it", firstNumber)
    .option("--failed", `all that failed, at most ${RETRIED_LIMIT}`)
    .action(async (id: number | undefined, options: CommonOptions & { failed?: boolean }) => {
      if ((id === undefined) === (options.failed === undefined)) {
        command.error("error: give an id or --failed.");
      }
      const queued = await withDatabase(options, async ({ store, execute }) => {
        const failed = () => store.read((reader) => listMails(reader, RETRIED_LIMIT, true));
        const ids = id === undefined ? (await failed()).map(({ mailId }) => mailId) : [id];
        for (const mailId of ids) await execute("retryMail", { mailId });
        return ids.length;
      });
      print(options.json, { queued }, fields);
    });
}

/** Returns an e-mail as it is shown. It has no link: links are made when it is sent. */
function mailJson(reader: Reader, mail: Mail) {
  const { mailId, kind, email: to, account, state, attempts, error, reply } = mail;
  const { dueAt, createdAt, endedAt } = mail;
  return {
    id: mailId,
    kind,
    to,
    user: account === null ? null : findUserByAccount(reader, account)!.username,
    state,
    attempts,
    error,
    reply,
    dueAt: isoTime(dueAt),
    createdAt: isoTime(createdAt),
    endedAt: isoTime(endedAt),
  };
}
