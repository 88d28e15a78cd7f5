// Fastify 5 + PostgreSQL 15: a pool of connections, named prepared statements, one statement that is the transaction.

import Fastify from "fastify";
import pg from "pg";
import {
  chargeOf,
  faultOf,
  hashKey,
  market,
  newId,
  orderShape,
  services,
  serviceShape,
} from "./market.mjs";

const POOL = 20;

const pool = new pg.Pool({ database: "postgres", max: POOL });
await pool.query(`
  CREATE TABLE users (id int PRIMARY KEY, balance bigint NOT NULL CHECK (balance >= 0));
  CREATE TABLE keys (
    id int PRIMARY KEY, hash text NOT NULL UNIQUE, user_id int NOT NULL REFERENCES users, active boolean NOT NULL
  );
  CREATE TABLE services (
    id text PRIMARY KEY, name text NOT NULL, price bigint NOT NULL, min int NOT NULL, max int NOT NULL,
    active boolean NOT NULL
  );
  CREATE TABLE orders (
    order_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id text NOT NULL UNIQUE,
    user_id int NOT NULL REFERENCES users, service_id text NOT NULL REFERENCES services, service_name text NOT NULL,
    link text NOT NULL, quantity int NOT NULL, charge bigint NOT NULL, status text NOT NULL, remains int NOT NULL,
    created_at bigint NOT NULL
  );
  CREATE INDEX orders_by_user ON orders (user_id, order_id);
  CREATE TABLE ledger (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, user_id int NOT NULL REFERENCES users, amount bigint NOT NULL,
    kind text NOT NULL, order_id bigint REFERENCES orders, key_id int REFERENCES keys, created_at bigint NOT NULL
  );
  CREATE UNIQUE INDEX ledger_by_order ON ledger (order_id, kind);
  CREATE INDEX ledger_by_user ON ledger (user_id, id);
`);
for (const [index, key] of market.keys.entries()) {
  await pool.query("INSERT INTO users VALUES ($1, $2)", [index + 1, market.balance * 1e6]);
  await pool.query("INSERT INTO keys VALUES ($1, $2, $1, true)", [index + 1, hashKey(key)]);
}
for (const { id, name, price, min, max } of services) {
  await pool.query("INSERT INTO services VALUES ($1, $2, $3, $4, $5, true)", [
    id,
    name,
    price,
    min,
    max,
  ]);
}
await pool.query("ANALYZE");

const FIND_KEY = {
  name: "key",
  text: "SELECT id, user_id, active FROM keys WHERE hash = $1",
};
const FIND_SERVICE = {
  name: "service",
  text: "SELECT id, name, price, min, max FROM services WHERE id = $1 AND active",
};
const PLACE_ORDER = {
  name: "place",
  text: `
    WITH debit AS (
      UPDATE users SET balance = balance - $6 WHERE id = $2 AND balance >= $6 RETURNING id
    ), placed AS (
      INSERT INTO orders (id, user_id, service_id, service_name, link, quantity, charge, status, remains, created_at)
      SELECT $1, debit.id, $3, $4, $5, $7, $6, 'PROCESSING', $7, $8 FROM debit RETURNING *
    ), entry AS (
      INSERT INTO ledger (user_id, amount, kind, order_id, key_id, created_at)
      SELECT user_id, -charge, 'order', order_id, $9, created_at FROM placed
    )
    SELECT * FROM placed`,
};
const FIND_ORDER = { name: "order", text: "SELECT * FROM orders WHERE id = $1 AND user_id = $2" };
const FIND_BALANCE = { name: "balance", text: "SELECT balance FROM users WHERE id = $1" };
const LIST_SERVICES = {
  name: "services",
  text: "SELECT * FROM services WHERE active ORDER BY name, id",
};

const app = Fastify({ bodyLimit: 64 * 1024 });
app.decorateRequest("key", null);
app.addHook("onRequest", async (request, reply) => {
  const text = request.headers["x-api-key"];
  if (!text) return refuse(reply, 401, "X-API-Key header is required");
  const key = await first(FIND_KEY, [hashKey(text)]);
  if (!key) return refuse(reply, 401, "Invalid API key");
  if (!key.active) return refuse(reply, 403, "API key is inactive");
  request.key = key;
});
app.post("/api/v1/orders", async (request, reply) => {
  const fault = faultOf(request.body);
  if (fault) return refuse(reply, 400, fault);
  const { link, quantity } = request.body;
  const service = await first(FIND_SERVICE, [request.body.service]);
  if (!service) return refuse(reply, 400, "Service not found");
  if (quantity < service.min) return refuse(reply, 400, `Minimum order is ${service.min}`);
  if (quantity > service.max) return refuse(reply, 400, `Maximum order is ${service.max}`);
  const charge = chargeOf(Number(service.price), quantity);
  const { id, name } = service;
  const values = [
    newId(),
    request.key.user_id,
    id,
    name,
    link.trim(),
    charge,
    quantity,
    Date.now(),
    request.key.id,
  ];
  const order = await first(PLACE_ORDER, values);
  if (!order) return refuse(reply, 400, "Insufficient balance");
  return { status: "success", order: orderShape(order) };
});
app.get("/api/v1/orders/:id", async (request, reply) => {
  const order = await first(FIND_ORDER, [request.params.id, request.key.user_id]);
  if (!order) return refuse(reply, 404, "Order not found");
  return {
    status: "success",
    order: { ...orderShape(order), startCount: 0, remains: order.remains },
  };
});
app.get("/api/v1/balance", async (request) => {
  const { balance } = await first(FIND_BALANCE, [request.key.user_id]);
  return { status: "success", balance: Number(balance) / 1e6, currency: "USD" };
});
app.get("/api/v1/services", async () => {
  const { rows } = await pool.query(LIST_SERVICES);
  return { status: "success", services: rows.map(serviceShape) };
});

process.on("SIGTERM", () => process.exit(0));
const url = await app.listen({ host: "127.0.0.1", port: 0 });
process.stdout.write(`listening on ${url}\n`);

async function first(statement, values) {
  const { rows } = await pool.query({ ...statement, values });
  return rows[0];
}

function refuse(reply, status, message) {
  return reply.code(status).send({ status: "error", message });
}
