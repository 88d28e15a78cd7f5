// The command line, run in this process on a fresh database, and what it printed.

import { readFileSync, writeFileSync } from "node:fs";
import { run } from "../../src/cli/program.ts";
import { listKeys } from "../../src/db/keys.ts";
import { findUser } from "../../src/db/users.ts";
import { type Body, freshDatabase, freshFolder, type TestDatabase } from "./service.ts";

export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
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
    return { code, stdout: printed, stderr: stderr.join(""), json: parseLater(printed) };
  } finally {
    process.stdout.write = original.stdout;
    process.stderr.write = original.stderr;
  }
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

/** alice (100 USD), her child kid (5 USD), bob; followers at 2.32 per 1000, a private service, a key of alice. */
export function openShop(): Shop {
  const folder = freshFolder();
  writeFileSync(`${folder}/reseller.db`, (template ??= seedDemo()));
  const database = freshDatabase(folder);
  const { connection } = database;
  const resellerAccount = findUser(connection.store.reader, "alice")!.account;
  const key = listKeys(connection.store.reader)[0]!;
  return {
    ...database,
    cli: (...argv) => reseller(...argv, "--data", database.folder),
    order(quantity) {
      const link = "https://example.com/me";
      const order = { resellerAccount, keyId: key.id, service: "followers", link, quantity };
      return database.run("placeOrder", order).orderId;
    },
    dump() {
      const tables = connection.sqlite
        .query("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
        .all() as { name: string }[];
      return tables
        .map(({ name }) => [name, ...connection.sqlite.query(`SELECT * FROM ${name}`).values()])
        .map((rows) => JSON.stringify(rows))
        .join("\n");
    },
  };
}

/** The file of a shop as it opens: made once, a copy is a quarter of the work. */
let template: Buffer | undefined;

function seedDemo(): Buffer {
  const database = freshDatabase();
  database.user("alice", "100");
  database.user("kid", "5", "alice");
  database.user("bob");
  database.service({ id: "followers" });
  database.service({ id: "secret", name: "Secret", private: true });
  database.key("alice", "full");
  database.connection.sqlite.run("PRAGMA wal_checkpoint(TRUNCATE)");
  database.connection.sqlite.close();
  return readFileSync(`${database.folder}/reseller.db`);
}
