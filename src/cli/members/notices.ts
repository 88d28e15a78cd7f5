// `admin portal notice …`: texts for all members, on the first page of the portal.

import { type Command, Option } from "commander";
import { listNotices } from "../../db/members/notices.ts";
import { type Language, LANGUAGE_NAMES, LANGUAGES } from "../../domain/members/languages.ts";
import type { NoticeTexts } from "../../domain/members/notices.ts";
import { type CommonOptions, declare, declareGroup, withDatabase } from "../kernel/command.ts";
import { keyId as noticeId, note, timeToEnd } from "../kernel/values.ts";
import { isoTime, print } from "../output/output.ts";
import { fields, table } from "../output/text-table.ts";

/** The name of each language's option, as commander reads it from the flag. */
const OPTIONS = LANGUAGES.map((language) => {
  const flag = language.toLowerCase();
  return {
    language,
    flag,
    option: flag.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase()),
  };
});

export function declareNotices(portal: Command): void {
  const group = declareGroup(portal, "notice", "texts for all members, on their first page");
  const add = declare(
    group,
    "add",
    "show a text to all members until a date, or until you remove it",
    'reseller admin portal notice add --en "Refills are slow today" --until 2026-12-01',
  );
  for (const { language, flag } of OPTIONS) {
    const name = LANGUAGE_NAMES[language];
    const what =
      language === "en" ? "the text, for every language without its own" : `the text in ${name}`;
    const option = new Option(`--${flag} <text>`, what).argParser(note);
    add.addOption(language === "en" ? option.makeOptionMandatory() : option);
  }
  add
    .option("--until <time>", "when it ends; a date belongs to it", timeToEnd)
    .action(async (options: CommonOptions & Record<string, unknown> & { until?: number }) => {
      const texts = textsOf(options);
      const { until: untilAt = null } = options;
      const id = await withDatabase(options, ({ execute }) =>
        execute("addNotice", { texts, untilAt }),
      );
      print(
        options.json,
        { id, ...texts, until: untilAt === null ? null : isoTime(untilAt) },
        fields,
      );
    });

  declare(group, "list", "list the notices", "reseller admin portal notice list").action(
    async (options: CommonOptions) => {
      const rows = await withDatabase(options, ({ store }) => store.read(listNotices));
      const shown = rows.map(({ id, texts, untilAt, createdAt }) => ({
        id,
        created: isoTime(createdAt),
        until: untilAt === null ? null : isoTime(untilAt),
        ...texts,
      }));
      print(options.json, shown, (listed) => table(listed, "no notices"));
    },
  );

  declare(
    group,
    "remove",
    "remove a notice",
    "reseller admin portal notice remove jkl2m4n6o8p0q2r4s6t8u0v2",
  )
    .argument("<id>", "the notice", noticeId)
    .action(async (id: string, options: CommonOptions) => {
      await withDatabase(options, ({ execute }) => execute("removeNotice", { id }));
      print(options.json, { id, removed: true }, fields);
    });
}

function textsOf(options: Record<string, unknown>): NoticeTexts {
  const given = OPTIONS.flatMap(({ language, option }) => {
    const text = options[option];
    return typeof text === "string" ? [[language, text] as const] : [];
  });
  return Object.fromEntries(given) as Record<Language, string>;
}
