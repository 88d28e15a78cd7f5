// The tables of another panel, by a seed: CSV files, or one MySQL dump in the form of SmartPanel's. Times, numbers and
// amounts are plausible; one order in `openEvery` is open.

import { openSync, closeSync, writeSync } from "node:fs";
import { join } from "node:path";
import { below, randomFrom } from "../random/seeded.ts";

export interface OldPanelSize {
  users: number;
  services: number;
  orders: number;
  /** One order in so many is open. */
  openEvery: number;
}

const PIECE_BYTES = 1024 * 1024;
/** Rows of one INSERT. */
const INSERT_ROWS = 500;
const FIRST_DAY = Date.UTC(2024, 0, 1);
const ORDER_EVERY_MS = 60_000;

/** The key of a user: 32 hexadecimal digits. */
export function oldKeyOf(user: number): string {
  return new Bun.CryptoHasher("md5").update(`key of user ${user}`).digest("hex");
}

class Writer {
  #text = "";
  readonly #file: number;

  constructor(readonly path: string) {
    this.#file = openSync(path, "w", 0o600);
  }

  add(text: string): void {
    this.#text += text;
    if (this.#text.length < PIECE_BYTES) return;
    writeSync(this.#file, this.#text);
    this.#text = "";
  }

  end(): void {
    writeSync(this.#file, this.#text);
    closeSync(this.#file);
  }
}

type Row = readonly (string | number)[];

function* users({ users: count }: OldPanelSize): Generator<Row> {
  const random = randomFrom(1);
  for (let id = 1; id <= count; id += 1) {
    const balance = (below(random, 1_000_000) / 10_000).toFixed(4);
    const email = `reseller${id}@example.com`;
    yield [id, email, `Reseller ${id}`, email, balance, id % 50 === 0 ? 0 : 1];
  }
}

function* keys({ users: count }: OldPanelSize): Generator<Row> {
  for (let id = 1; id <= count; id += 1) yield [id, oldKeyOf(id)];
}

function* services({ services: count }: OldPanelSize): Generator<Row> {
  const random = randomFrom(2);
  for (let number = 1; number <= count; number += 1) {
    const price = (below(random, 100_000) / 10_000 + 0.01).toFixed(4);
    yield [
      number,
      `Followers, ${number}`,
      `Category ${number % 40}`,
      price,
      10,
      100_000,
      1,
      3,
      number + 5000,
    ];
  }
}

const ENDED = ["completed", "completed", "completed", "completed", "partial", "canceled"] as const;

function* orders(size: OldPanelSize): Generator<Row> {
  const random = randomFrom(3);
  for (let number = 1; number <= size.orders; number += 1) {
    const user = below(random, size.users) + 1;
    const service = below(random, size.services) + 1;
    const quantity = below(random, 990) + 10;
    const isOpen = number % size.openEvery === 0;
    const status = isOpen ? "inprogress" : ENDED[below(random, ENDED.length)]!;
    const remains = status === "completed" ? 0 : quantity >> 1;
    const charge = (below(random, 100_000) / 10_000).toFixed(4);
    const created = new Date(FIRST_DAY + number * ORDER_EVERY_MS).toISOString();
    yield [
      number,
      user,
      service,
      `https://example.com/p/${number}`,
      quantity,
      charge,
      status,
      below(random, 10_000),
      remains,
      created.slice(0, 19).replace("T", " "),
      3,
      service + 5000,
      number + 7_000_000,
    ];
  }
}

const TABLES = { users, services, orders, keys } as const;
export type OldTable = keyof typeof TABLES;

const CSV_HEADERS: Record<OldTable, string> = {
  users: "id,username,name,email,balance,active",
  services: "number,name,category,price,min,max,active,provider,providerService",
  orders:
    "number,user,service,link,quantity,charge,status,startCount,remains,createdAt,provider,providerService,providerOrder",
  keys: "user,key",
};

/** Writes a CSV file for each table, with our own names of columns. Returns their paths. */
export function writeOldPanelCsv(folder: string, size: OldPanelSize): Record<OldTable, string> {
  const paths = {} as Record<OldTable, string>;
  for (const [name, rows] of Object.entries(TABLES) as [OldTable, typeof users][]) {
    paths[name] = join(folder, `${name}.csv`);
    const writer = new Writer(paths[name]);
    writer.add(`${CSV_HEADERS[name]}\n`);
    for (const row of rows(size)) {
      writer.add(`${row.map((cell) => (typeof cell === "string" ? `"${cell}"` : cell)).join()}\n`);
    }
    writer.end();
  }
  return paths;
}

/** The mapping of the dump's and the CSV files' providers. */
export const OLD_PANEL_MAP = `[providers]\n"3" = "upstream"\n`;

/** Writes a dump with the tables of SmartPanel. Returns its path. */
export function writeOldPanelDump(folder: string, size: OldPanelSize): string {
  const path = join(folder, "panel.sql");
  const writer = new Writer(path);
  writer.add("-- MySQL dump 10.13\n/*!40101 SET NAMES utf8mb4 */;\n");
  const table = (name: string, columns: string, rows: Iterable<Row>) => {
    const declared = columns.split(",").map((column) => `  \`${column}\` text`);
    writer.add(
      `DROP TABLE IF EXISTS \`${name}\`;\nCREATE TABLE \`${name}\` (\n${declared.join(",\n")}\n);\n`,
    );
    let count = 0;
    for (const row of rows) {
      const cells = row.map((cell) =>
        typeof cell === "string" ? `'${cell.replaceAll("'", "\\'")}'` : cell,
      );
      writer.add(count % INSERT_ROWS === 0 ? `INSERT INTO \`${name}\` VALUES ` : ",");
      writer.add(`(${cells.join()})`);
      count += 1;
      if (count % INSERT_ROWS === 0) writer.add(";\n");
    }
    if (count % INSERT_ROWS !== 0) writer.add(";\n");
  };
  const categories = Array.from({ length: 40 }, (_, id): Row => [id, `Category ${id}`]);
  table("categories", "id,name", categories);
  const accounts = function* (): Generator<Row> {
    for (const [id, email, name, , balance, status] of users(size)) {
      yield [id!, "user", name!, "", email!, balance!, oldKeyOf(Number(id)), status!];
    }
  };
  table("general_users", "id,role,first_name,last_name,email,balance,api_key,status", accounts());
  const catalogue = function* (): Generator<Row> {
    for (const [number, name, , price, min, max, active, provider, service] of services(size)) {
      yield [
        number!,
        Number(number) % 40,
        name!,
        price!,
        min!,
        max!,
        "default",
        0,
        active!,
        provider!,
        service!,
      ];
    }
  };
  table(
    "services",
    "id,cate_id,name,price,min,max,type,dripfeed,status,api_provider_id,api_service_id",
    catalogue(),
  );
  table(
    "orders",
    "id,uid,service_id,link,quantity,charge,status,start_counter,remains,created,api_provider_id,api_service_id,api_order_id",
    orders(size),
  );
  writer.end();
  return path;
}
