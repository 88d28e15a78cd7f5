// An import beside servers on PostgreSQL: by the role of a server, and with orders that are not committed yet.

import { SQL } from "bun";
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { cluster, SERVICE_ROLE } from "../../support/databases/postgres.ts";
import { freshDatabase } from "../../support/databases/test-database.ts";
import { verifyStore } from "../../support/databases/verify.ts";
import { freshFolder } from "../../support/folders.ts";
import { openService } from "../../support/worlds/service.ts";
import { reseller } from "../../support/worlds/shop.ts";

const USERS = "id,username,balance\n1,ann,5\n";
const ORDERS =
  "number,user,service,link,quantity,charge,status,createdAt\n700,1,1,x,1,1,completed,2025-01-01\n";

/** Imports the files into the database of a running service, by its role. */
async function imports(url: string, text: { users: string; orders: string }) {
  const folder = freshFolder();
  const files = Object.entries(text).flatMap(([table, csv]) => {
    const path = join(folder, `${table}.csv`);
    writeFileSync(path, csv);
    return [`--${table}`, path];
  });
  return reseller("admin", "import", "panel", ...files, "--database", url, "--json");
}

const asServer = (url: string) => url.replace(/\/\/[^@]*@/, `//${SERVICE_ROLE}@`);

test("the role of a server imports beside it, and the server's next order gets a number above", async () => {
  const service = await openService();
  const url = asServer(service.location.database!);
  expect(new URL(url).username).toBe(SERVICE_ROLE);
  const { code, stderr } = await imports(url, { users: USERS, orders: ORDERS });
  expect([code, stderr]).toEqual([0, ""]);
  const id = service.service();
  const { text } = service.key("ann", "order");
  const order = { service: id, link: "https://example.com/a", quantity: 10 };
  const { body } = await service.call("POST", "/orders", text, order);
  expect(body.order.orderId).toBe(701);
  expect(await verifyStore(service)).toEqual([]);
  await service.stop();
});

test("an import waits for an order that took its number and did not commit yet, and is refused then", async () => {
  const database = freshDatabase();
  database.user("bea", "5");
  const id = database.service();
  const url = asServer(database.location.database!);
  const { username } = (await cluster()).address("any");
  const address = new URL(url);
  const other = new SQL({
    adapter: "postgres",
    hostname: address.hostname,
    port: Number(address.port),
    username,
    database: address.pathname.slice(1),
    max: 1,
  });
  const connection = await other.reserve();
  await connection.unsafe("BEGIN");
  await connection.unsafe("SELECT nextval('orders_number')");
  const { account } = database.query<{ account: number }>("SELECT account FROM users")[0]!;
  const importing = imports(url, { users: USERS, orders: ORDERS });
  for (;;) {
    const [waiting] = await connection.unsafe(
      "SELECT count(*)::int AS count FROM pg_locks WHERE NOT granted AND relation = 'orders_number'::regclass",
    );
    if (waiting.count === 1) break;
  }
  await connection.unsafe(
    `INSERT INTO orders (order_id, id, reseller_account, service_id, service_name, price_micros, per, link,
       quantity, charge_micros, status, remains, created_at, placement)
     SELECT 1, 'x23456789012345678901234', ${account}, '${id}', 'S', 1000000, '1000', 'x',
       10, 0, 'PROCESSING', 10, 1, 'manual'`,
  );
  await connection.unsafe("COMMIT");
  const { code, stderr } = await importing;
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining("orders were placed here since the dry run"),
  ]);
  const [next] = await connection.unsafe("SELECT nextval('orders_number')::int AS number");
  expect(next.number).toBe(2);
  expect(database.query("SELECT * FROM imported_users")).toEqual([]);
  await connection.release();
  await other.close();
  database.close();
});

test("a role without the right to keep numbers imports nothing, and is told what to do", async () => {
  const database = freshDatabase();
  database.query(`REVOKE EXECUTE ON FUNCTION reserve_numbers FROM ${SERVICE_ROLE}`);
  const url = asServer(database.location.database!);
  const { code, stderr } = await imports(url, { users: USERS, orders: ORDERS });
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining(
      "permission denied for function reserve_numbers): as the owner of the tables, apply postgres-role.sql",
    ),
  ]);
  expect(database.query("SELECT * FROM imported_users")).toEqual([]);
  database.close();
});
