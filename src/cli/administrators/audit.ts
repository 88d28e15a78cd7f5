// `admin audit …`: lists who changed what, newest first.

import { type Command, Option } from "commander";
import { type ListedAuditEntry, listAuditEntries } from "../../db/administrators/audit.ts";
import { findUser } from "../../db/users/users.ts";
import {
  AUDIT_ACTIONS,
  type AuditAction,
  type AuditFacts,
} from "../../domain/administrators/audit.ts";
import { refusal } from "../../domain/values/error-table.ts";
import { jsonAmount } from "../../domain/ledger/money.ts";
import { type CommonOptions, declare, declareGroup, withDatabase } from "../kernel/command.ts";
import {
  addPaging,
  addWindow,
  printMore,
  type WindowOptions,
  windowOf,
} from "../output/list-pages.ts";
import { print } from "../output/output.ts";
import { table } from "../output/text-table.ts";
import { firstNumber, searchText, username } from "../kernel/values.ts";

const LIST_DEFAULT = 50;

interface ListOptions extends CommonOptions, WindowOptions {
  user?: string;
  action?: AuditAction;
  subject?: string;
  by?: string;
  limit: number;
  cursor?: number;
}

export function declareAudit(admin: Command): void {
  const group = declareGroup(admin, "audit", "who changed what, and when");
  const list = declare(
    group,
    "list",
    "list changes, newest first",
    "reseller admin audit list --since 24h",
  )
    .option("--user <username>", "only changes that concern this user", username)
    .addOption(new Option("--action <action>", "only this kind of change").choices(AUDIT_ACTIONS))
    .option(
      "--subject <text>",
      "only changes of the object with this name, id or number",
      searchText,
    )
    .option(
      "--by <name>",
      "only by this operator: `panel:NAME`, or a user of the operating system",
      searchText,
    );
  addWindow(list);
  addPaging(list, { what: "seq", parse: firstNumber }, LIST_DEFAULT).action(
    async (options: ListOptions) => {
      const entries = await withDatabase(options, ({ store }) =>
        store.read((reader) => {
          const user = options.user === undefined ? null : findUser(reader, options.user);
          if (user === undefined) throw refusal("user_not_found");
          const { action, subject, by, cursor: below, limit } = options;
          const { from, to } = windowOf(options);
          const window = { since: from ?? undefined, until: to ?? undefined };
          const filter = { account: user?.account, action, subject, by, ...window, below };
          return listAuditEntries(reader, { ...filter, limit });
        }),
      );
      print(options.json, entries.map(entryJson), (rows) =>
        table(
          rows.map(({ at, by, action, subject, user, before, after }) => {
            return { at, by, action, subject, user, change: changeText(before, after) };
          }),
          "no such changes",
        ),
      );
      printMore(options, entries, () => entries.at(-1)!.seq);
    },
  );
}

function entryJson(entry: ListedAuditEntry) {
  return {
    seq: entry.seq,
    at: new Date(entry.createdAt).toISOString(),
    by: entry.operator ?? `key ${entry.keyId}`,
    operator: entry.operator,
    keyId: entry.keyId,
    action: entry.action,
    subject: entry.subject,
    user: entry.username,
    before: shown(entry.before),
    after: shown(entry.after),
  };
}

/** Formats facts for people: amounts in USD, times in ISO 8601. */
function shown(facts: AuditFacts | null): Record<string, Shown> | null {
  if (facts === null) return null;
  return Object.fromEntries(
    Object.entries(facts).map(([name, value]) => {
      const plain = name.replace(/Micros$/, "");
      if (typeof value === "bigint") return [plain, jsonAmount(value)];
      if (typeof value !== "number") return [plain, value];
      if (plain !== name) return [plain, jsonAmount(value)];
      return [name, name.endsWith("At") ? new Date(value).toISOString() : value];
    }),
  );
}

type Shown = Exclude<AuditFacts[string], bigint>;
type ShownFacts = ReturnType<typeof shown>;

/** Returns `price 2.32 → 2.5, max 100 → 200`, or only the values for something created or removed. */
function changeText(before: ShownFacts, after: ShownFacts): string {
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]);
  const parts = [...names].flatMap((name) => {
    const [was, is] = [valueText(before?.[name]), valueText(after?.[name])];
    if (was === "" && is === "") return [];
    return before && after && was !== "" ? `${name} ${was} → ${is || "-"}` : `${name} ${is || was}`;
  });
  return (after ? "" : "removed: ") + parts.join(", ");
}

function valueText(value: Shown | undefined): string {
  if (value === null || value === undefined) return "";
  // String would be wrong: a very large amount is a raw JSON number, which only JSON.stringify can write.
  return typeof value === "string" ? value : JSON.stringify(value);
}
