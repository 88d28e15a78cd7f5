// The role that deploy/postgres-role.sql describes: every test of operations on PostgreSQL runs under it (stores.ts).

import { expect, test } from "bun:test";
import { SQL } from "bun";
import { TABLES } from "../../../src/db/tables/tables.ts";
import { migrate } from "../../../src/db/postgres/schema/migrate.ts";
import { reseller } from "../../support/worlds/shop.ts";
import { cluster, SERVICE_ROLE } from "../../support/databases/postgres.ts";
import { freshFolder } from "../../support/folders.ts";

async function serviceDatabase() {
  const server = await cluster();
  const database = await server.createDatabase();
  const address = { ...server.address(database), username: SERVICE_ROLE };
  const [host] = address.hosts;
  const sql = new SQL({ adapter: "postgres", ...host!, username: SERVICE_ROLE, database, max: 1 });
  return { address, sql };
}

test("the service's role can start a server when no migration is pending", async () => {
  const { address, sql } = await serviceDatabase();
  expect(await migrate(address, 1)).toEqual([]);
  await sql.close();
});

test("the service's role can run verify and doctor, and missing grants are reported by name", async () => {
  const server = await cluster();
  const database = await server.createDatabase();
  const url = `postgres://${SERVICE_ROLE}@127.0.0.1:${server.port}/${database}`;
  const verified = await reseller("verify", "--database", url, "--json");
  expect([verified.code, verified.stderr]).toEqual([0, ""]);
  expect((await reseller("doctor", "--database", url)).stdout).toContain("this version's");
  await server.query(database, `REVOKE SELECT ON SEQUENCE orders_number FROM ${SERVICE_ROLE}`);
  const denied = await reseller("verify", "--database", url);
  expect([denied.code, denied.stderr]).toEqual([
    1,
    expect.stringMatching(
      /permission denied for sequence orders_number\): as the owner of the tables, apply postgres-role\.sql /,
    ),
  ]);
});

test("a server whose role was not granted the tables of an upgrade does not start, and names one", async () => {
  const server = await cluster();
  const database = await server.createDatabase();
  const url = `postgres://${SERVICE_ROLE}@127.0.0.1:${server.port}/${database}`;
  await server.query(database, `REVOKE ALL ON key_recharges FROM ${SERVICE_ROLE}`);
  const data = freshFolder();
  const refused = await reseller("serve", "--database", url, "--data", data, "--port", "0");
  expect([refused.code, refused.stderr]).toEqual([
    1,
    expect.stringMatching(
      /permission denied for table key_recharges\): as the owner of the tables, apply postgres-role\.sql /,
    ),
  ]);
});

test("the service's role can neither change the schema nor alter permanent rows", async () => {
  const { sql } = await serviceDatabase();
  for (const text of [
    "CREATE TABLE other (id bigint)",
    "ALTER TABLE transfers DISABLE TRIGGER ALL",
    "DROP TABLE batches",
    "TRUNCATE orders",
    "DELETE FROM orders",
    "DELETE FROM users",
    "UPDATE transfers SET amount_micros = 1",
    "DELETE FROM transfers",
    "DELETE FROM audit",
    "UPDATE migrations SET version = 2",
  ]) {
    expect(sql.unsafe(text)).rejects.toThrow(/permission denied|must be owner/);
  }
  await sql.close();
});

test("the service's role can write rows of every table that the service does", async () => {
  const { sql } = await serviceDatabase();
  const without: string[] = [];
  for (const { name } of TABLES) {
    const text = `SELECT has_table_privilege(current_user, '${name}', 'INSERT') AS granted`;
    const [row] = (await sql.unsafe(text)) as { granted: boolean }[];
    if (!row!.granted) without.push(name);
  }
  // These hold one row each, which the migrations made.
  expect(without.toSorted()).toEqual([
    "invoice_settings",
    "mail_settings",
    "totals_position",
    "uptime",
  ]);
  await sql.close();
});
