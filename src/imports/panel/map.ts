// The mapping of another panel's tables to ours: `--format NAME`, which `--map FILE` (TOML) changes.
// docs/specification/imports.md#import-map.

import * as v from "valibot";
import { FileError } from "../records.ts";

export const PANEL_TABLES = ["users", "services", "orders", "keys"] as const;
export type PanelTable = (typeof PANEL_TABLES)[number];

/** Our fields of each table. */
export const PANEL_FIELDS = {
  users: ["id", "username", "name", "email", "balance", "discount", "active"],
  services: [
    "number",
    "name",
    "category",
    "price",
    "min",
    "max",
    "type",
    "dripfeed",
    "cancel",
    "refill",
    "active",
    "provider",
    "providerService",
  ],
  orders: [
    "number",
    "user",
    "service",
    "link",
    "quantity",
    "charge",
    "status",
    "startCount",
    "remains",
    "createdAt",
    "provider",
    "providerService",
    "providerOrder",
  ],
  keys: ["user", "key", "label"],
} as const satisfies Record<PanelTable, readonly string[]>;

const TEXTS = v.record(v.string(), v.string());

const TABLE = v.strictObject({
  /** The name of the table in a dump. */
  table: v.optional(v.string()),
  /** Our field = their column; several columns are joined by a space, without empty ones. "": the field is left out. */
  columns: v.optional(v.record(v.string(), v.union([v.string(), v.array(v.string())]))),
  /** For one of our fields: their value = ours. */
  values: v.optional(v.record(v.string(), TEXTS)),
  /** Their column = the values of the rows to import. Other rows are left out. */
  only: v.optional(v.record(v.string(), v.array(v.string()))),
  /** For a field of ours that holds an id: the table of the dump that has the name for this id. */
  lookups: v.optional(
    v.record(v.string(), v.strictObject({ table: v.string(), key: v.string(), value: v.string() })),
  ),
});
export type TableMap = v.InferOutput<typeof TABLE>;

const RULES = v.strictObject({
  /** A balance below 0: refuse its row, or import the user with 0. */
  negativeBalance: v.optional(v.picklist(["refuse", "zero"])),
  /** A username that another row has, whatever its case: refuse the row, or add `-` and the id. */
  usernameTwice: v.optional(v.picklist(["refuse", "suffix"])),
  /** Characters that no username here has: refuse the row, or replace each by `_`. */
  usernameForm: v.optional(v.picklist(["refuse", "replace"])),
  /** An amount with more than six decimals: refuse its row, or round to the nearest micro. */
  decimals: v.optional(v.picklist(["refuse", "round"])),
  /** How 03/04/2025 is read. */
  dates: v.optional(v.picklist(["refuse", "day first", "month first"])),
  /** The time zone of times without one, such as +03:00. */
  timeZone: v.optional(v.pipe(v.string(), v.regex(/^[+-](?:0\d|1[0-4]):[0-5]\d$/))),
  /** The date of an order without one. */
  missingDate: v.optional(v.pipe(v.string(), v.isoDate())),
  encoding: v.optional(v.picklist(["utf-8", "windows-1252"])),
  /** What separates the cells of a CSV file. */
  delimiter: v.optional(v.picklist([",", ";", "\t", "|"])),
});
export type Rules = Required<Omit<v.InferOutput<typeof RULES>, "missingDate">> & {
  missingDate: string | null;
};

const MAP = v.strictObject({
  users: v.optional(TABLE),
  services: v.optional(TABLE),
  orders: v.optional(TABLE),
  keys: v.optional(TABLE),
  /** The other panel's id of a provider = its name here. "": delivered by hand. */
  providers: v.optional(TEXTS),
  rules: v.optional(RULES),
});
/** A mapping as a format or a file gives it. */
export type GivenMap = v.InferOutput<typeof MAP>;

export interface PanelMap {
  tables: Record<PanelTable, TableMap>;
  providers: Record<string, string>;
  rules: Rules;
}

const DEFAULT_RULES: Rules = {
  negativeBalance: "refuse",
  usernameTwice: "refuse",
  usernameForm: "refuse",
  decimals: "refuse",
  dates: "refuse",
  timeZone: "+00:00",
  missingDate: null,
  encoding: "utf-8",
  delimiter: ",",
};

/** Reads a mapping file. Throws FileError. */
export function readMap(file: string, text: string): GivenMap {
  let parsed: unknown;
  try {
    parsed = Bun.TOML.parse(text);
  } catch (error) {
    throw new FileError(`${file} is not TOML: ${error instanceof Error ? error.message : ""}`);
  }
  const read = v.safeParse(MAP, parsed);
  if (!read.success) {
    const [issue] = read.issues;
    throw new FileError(`${file}: ${v.getDotPath(issue) ?? "it"}: ${issue.message}`);
  }
  for (const table of PANEL_TABLES) {
    const { columns, values, lookups } = read.output[table] ?? {};
    const known: readonly string[] = PANEL_FIELDS[table];
    const given = [columns, values, lookups].flatMap((part) => Object.keys(part ?? {}));
    const unknown = given.find((field) => !known.includes(field));
    if (unknown === undefined) continue;
    throw new FileError(
      `${file}: ${table} has no field ${unknown}; its fields are ${known.join(", ")}`,
    );
  }
  return read.output;
}

/** Returns the mapping of a format with the changes of a file. */
export function combineMaps(format: GivenMap, changes: GivenMap): PanelMap {
  const combined = (name: PanelTable): TableMap => {
    const [base, own] = [format[name] ?? {}, changes[name] ?? {}];
    const values: Record<string, Record<string, string>> = { ...base.values };
    for (const [field, words] of Object.entries(own.values ?? {})) {
      values[field] = { ...values[field], ...words };
    }
    return {
      ...base,
      ...own,
      columns: { ...base.columns, ...own.columns },
      values,
      lookups: { ...base.lookups, ...own.lookups },
    };
  };
  return {
    tables: {
      users: combined("users"),
      services: combined("services"),
      orders: combined("orders"),
      keys: combined("keys"),
    },
    providers: { ...format.providers, ...changes.providers },
    rules: { ...DEFAULT_RULES, ...format.rules, ...changes.rules },
  };
}
