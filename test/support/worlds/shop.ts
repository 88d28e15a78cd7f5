// The command line, run in this process on a fresh database, and what it printed.

import { readFileSync } from "node:fs";
import { run } from "../../../src/cli/kernel/program.ts";
import { listKeys } from "../../../src/db/users/keys.ts";
import { TABLES } from "../../../src/db/tables/tables.ts";
import type { Body } from "../http/api.ts";
import {
  dumpOf,
  freshDatabase,
  freshSqliteDatabase,
  type TestDatabase,
} from "../databases/test-database.ts";
import { ENGINE, type Engine } from "../databases/engine.ts";

export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
  /** stderr as a person reads it, where --json made its error a document. */
  readonly told: string;
  /** What --json printed. Throws when that is not one JSON document. */
  readonly json: Body;
}

/** One command line, as it would run in a process of its own: after those before it, since all print to one place. */
export function reseller(...argv: string[]): Promise<Ran> {
  const ran = running.then(() => runHere(argv));
  running = ran.catch(() => {});
  return ran;
}

let running: Promise<unknown> = Promise.resolve();

async function runHere(argv: readonly string[]): Promise<Ran> {
  const stdout: string[] = [];
  const stderr: string[] = [];
  // oxlint-disable-next-line typescript/unbound-method -- put back as it was, not called
  const original = { stdout: process.stdout.write, stderr: process.stderr.write };
  const into = (lines: string[]) => (text: string) => lines.push(text) > 0;
  process.stdout.write = into(stdout) as typeof process.stdout.write;
  process.stderr.write = into(stderr) as typeof process.stderr.write;
  try {
    const code = (await run(argv)) ?? 0;
    const printed = stdout.join("");
    const told = stderr.join("");
    return { code, stdout: printed, stderr: told, told: textOf(told), json: parseLater(printed) };
  } finally {
    process.stdout.write = original.stdout;
    process.stderr.write = original.stderr;
  }
}

function textOf(stderr: string): string {
  const failure = parseLater(stderr);
  return failure?.status === "error" ? `error: ${failure.message}\n` : stderr;
}

function parseLater(text: string): Body {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export interface Shop extends TestDatabase {
  /** A command on this database. */
  cli(...argv: string[]): Promise<Ran>;
  /** The order number of a new order of `alice` for the service `followers`. */
  order(quantity: number): number;
  /** Everything the database holds: equal before and after means nothing changed. */
  dump(): string;
}

/** The options that name a database on the command line. */
export function optionsOf({ location }: TestDatabase): string[] {
  return Object.entries(location).flatMap(([name, value]) => [`--${name}`, value as string]);
}

interface ShopOptions {
  /** Default: the one of this run. */
  engine?: Engine;
  /** An empty one. */
  database?: TestDatabase;
}

/** alice (100 USD), her child kid (5 USD), bob; followers at 2.32 per 1000, a private service, a key of alice. */
export function openShop({ engine = ENGINE, database }: ShopOptions = {}): Shop {
  if (database) return shopIn(fillShop(database));
  return shopIn(engine === "sqlite" ? copyOfTemplate() : fillShop(freshDatabase()));
}

function shopIn(database: TestDatabase): Shop {
  const { resellerAccount, id: keyId } = database.read((reader) => listKeys(reader)[0]!);
  return {
    ...database,
    cli: (...argv) => reseller(...argv, ...optionsOf(database)),
    order(quantity) {
      const link = "https://example.com/me";
      const order = { resellerAccount, keyId, service: "followers", link, quantity };
      return database.run("placeOrder", order).orderId;
    },
    dump() {
      return TABLES.map((table) => dumpOf(database, table)).join("\n");
    },
  };
}

/** The file of a shop as it opens: made once, a copy is a quarter of the work. */
let template: Buffer | undefined;

function copyOfTemplate(): TestDatabase {
  return freshSqliteDatabase(undefined, () => (template ??= fileOfShop()));
}

function fileOfShop(): Buffer {
  const { folder, connection } = fillShop(freshSqliteDatabase());
  connection.sqlite.run("PRAGMA wal_checkpoint(TRUNCATE)");
  connection.sqlite.close();
  return readFileSync(`${folder}/reseller.db`);
}

function fillShop(database: TestDatabase): TestDatabase {
  database.user("alice", "100");
  database.user("kid", "5", "alice");
  database.user("bob");
  database.service({ id: "followers" });
  database.service({ id: "secret", name: "Secret", private: true });
  database.key("alice", "full");
  return database;
}
