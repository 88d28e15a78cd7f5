// `admin audit …`: who changed what, newest first.

import { type Command, Option } from "commander";
import { type ListedAuditEntry, listAuditEntries } from "../db/audit.ts";
import { findUser } from "../db/users.ts";
import { AUDIT_ACTIONS, type AuditAction, type AuditFacts } from "../domain/audit.ts";
import { refusal } from "../domain/refusals.ts";
import { jsonAmount } from "../domain/money.ts";
import { type CommonOptions, declare, declareGroup, withDatabase } from "./command.ts";
import { addPaging, addWindow, printMore } from "./list-pages.ts";
import { print } from "./output.ts";
import { table } from "./text-table.ts";
import { orderNumber, searchText, username } from "./values.ts";

const LIST_DEFAULT = 50;

interface ListOptions extends CommonOptions {
  user?: string;
  action?: AuditAction;
  subject?: string;
  by?: string;
  since?: number;
  until?: number;
  from?: number;
  to?: number;
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
    .option("--user <username>", "only what concerns this user", username)
    .addOption(new Option("--action <action>", "only these").choices(AUDIT_ACTIONS))
    .option("--subject <text>", "only of what has this name, id or number", searchText)
    .option(
      "--by <name>",
      "only by this operator: `panel:NAME`, or a user of the system",
      searchText,
    );
  addWindow(list, "since", "until");
  addPaging(list, { what: "seq", parse: orderNumber }, LIST_DEFAULT).action(
    async (options: ListOptions) => {
      const entries = await withDatabase(options, ({ store }) =>
        store.read((reader) => {
          const user = options.user === undefined ? null : findUser(reader, options.user);
          if (user === undefined) throw refusal("user_not_found");
          const { action, subject, by, cursor: below, limit } = options;
          const { since = options.from, until = options.to } = options;
          const filter = { account: user?.account, action, subject, by, since, until, below };
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

/** For people: amounts in USD, times in ISO 8601. */
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

/** `price 2.32 → 2.5, max 100 → 200`; for something created or removed only the values. */
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
  // Not String: a very large amount is a raw JSON number, which only JSON.stringify can write.
  return typeof value === "string" ? value : JSON.stringify(value);
}
