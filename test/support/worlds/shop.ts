// The command line, run in this process on a fresh database, and what it printed.

import { readFileSync } from "node:fs";
import { run } from "../../../src/cli/kernel/program.ts";
import { listKeys } from "../../../src/db/users/keys.ts";
import { findUser } from "../../../src/db/users/users.ts";
import { TABLES } from "../../../src/db/tables/tables.ts";
import type { Body } from "../http/api.ts";
import {
  dumpOf,
  freshDatabase,
  freshSqliteDatabase,
  type TestDatabase,
} from "../databases/test-database.ts";
import { ENGINE, type Engine } from "../databases/engine.ts";
import { PROVIDER_KEY, type Upstream } from "../peers/upstream.ts";

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

/** alice (100 USD), her child kid (5 USD), bob; followers at 2.32 per 1000, a private service, a key of alice. */
export function openShop(engine: Engine = ENGINE): Shop {
  return shopIn(engine === "sqlite" ? copyOfTemplate() : fillShop(freshDatabase()));
}

/** The same on a database that is empty yet, of whatever engine. */
export function openShopIn(database: TestDatabase): Shop {
  return shopIn(fillShop(database));
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

/** Order 1 PROCESSING, 2 PARTIAL with 50 of 100 remaining, 3 CANCELLED. */
export async function openBusyShop(): Promise<Shop> {
  const shop = openShop();
  for (let made = 0; made < 3; made++) shop.order(100);
  await shop.cli("admin", "order", "partial", "2", "--remains", "50");
  await shop.cli("admin", "order", "cancel", "3");
  return shop;
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

/** A shop whose provider `acme` is this upstream. */
export function openProviderShop({ url }: Upstream): Shop {
  const shop = openShop();
  shop.run("createProvider", { name: "acme", protocol: "smm-api", url, key: PROVIDER_KEY });
  return shop;
}

/** An order of alice for a service of acme's, queued or in the delivery state `outcome`. */
export function orderOf(
  shop: Shop,
  outcome?: "unknown" | "sending" | "placed",
  providerOrder = "501",
): string {
  if (shop.query("SELECT 1 FROM services WHERE id = 'likes'").length === 0) {
    shop.service({ id: "likes", price: "2", provider: { name: "acme", service: "7" } });
  }
  const { account } = shop.read((reader) => findUser(reader, "alice"))!;
  const { id: keyId } = shop.key("alice", "full");
  const input = { resellerAccount: account, keyId, service: "likes", link: "x", quantity: 1000 };
  const { orderId } = shop.run("placeOrder", input);
  if (outcome === "sending") shop.attempt(orderId);
  if (outcome === "unknown") shop.attempt(orderId, { outcome, cause: "no answer within 30 s" });
  if (outcome === "placed") shop.attempt(orderId, { outcome: "accepted", providerOrder });
  return String(orderId);
}
