// Express 5 + better-sqlite3: one process, prepared statements, WAL, synchronous=FULL, a transaction a request.

import Database from "better-sqlite3";
import express from "express";
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

const db = new Database(process.env.DATABASE);
db.pragma("journal_mode = WAL");
db.pragma("synchronous = FULL");
db.pragma("foreign_keys = ON");
db.exec(`
  CREATE TABLE users (id INTEGER PRIMARY KEY, balance INTEGER NOT NULL CHECK (balance >= 0)) STRICT;
  CREATE TABLE keys (
    id INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, user_id INTEGER NOT NULL REFERENCES users, active INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE services (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, price INTEGER NOT NULL, min INTEGER NOT NULL, max INTEGER NOT NULL,
    active INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE orders (
    order_id INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, user_id INTEGER NOT NULL REFERENCES users,
    service_id TEXT NOT NULL REFERENCES services, service_name TEXT NOT NULL, link TEXT NOT NULL,
    quantity INTEGER NOT NULL, charge INTEGER NOT NULL, status TEXT NOT NULL, remains INTEGER NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX orders_by_user ON orders (user_id, order_id);
  CREATE TABLE ledger (
    id INTEGER PRIMARY KEY, user_id INTEGER NOT NULL REFERENCES users, amount INTEGER NOT NULL, kind TEXT NOT NULL,
    order_id INTEGER REFERENCES orders, key_id INTEGER REFERENCES keys, created_at INTEGER NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX ledger_by_order ON ledger (order_id, kind);
  CREATE INDEX ledger_by_user ON ledger (user_id, id);
`);
const insertUser = db.prepare("INSERT INTO users VALUES (?, ?)");
const insertKey = db.prepare("INSERT INTO keys VALUES (?, ?, ?, 1)");
const insertService = db.prepare("INSERT INTO services VALUES (@id, @name, @price, @min, @max, 1)");
db.transaction(() => {
  market.keys.forEach((key, index) => {
    insertUser.run(index + 1, market.balance * 1e6);
    insertKey.run(index + 1, hashKey(key), index + 1);
  });
  for (const service of services) insertService.run(service);
})();

const findKey = db.prepare("SELECT id, user_id, active FROM keys WHERE hash = ?");
const findService = db.prepare("SELECT * FROM services WHERE id = ? AND active = 1");
const debit = db.prepare("UPDATE users SET balance = balance - ? WHERE id = ? AND balance >= ?");
const insertOrder = db.prepare(`
  INSERT INTO orders (id, user_id, service_id, service_name, link, quantity, charge, status, remains, created_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, 'PROCESSING', ?, ?) RETURNING *`);
const insertLedger = db.prepare(
  "INSERT INTO ledger (user_id, amount, kind, order_id, key_id, created_at) VALUES (?, ?, 'order', ?, ?, ?)",
);
const findOrder = db.prepare("SELECT * FROM orders WHERE id = ? AND user_id = ?");
const findBalance = db.prepare("SELECT balance FROM users WHERE id = ?");
const listServices = db.prepare("SELECT * FROM services WHERE active = 1 ORDER BY name, id");

const place = db.transaction((key, service, link, quantity) => {
  const charge = chargeOf(service.price, quantity);
  if (debit.run(charge, key.user_id, charge).changes === 0) return null;
  const now = Date.now();
  const order = insertOrder.get(
    newId(), key.user_id, service.id, service.name, link, quantity, charge, quantity, now,
  ); // prettier-ignore
  insertLedger.run(key.user_id, -charge, order.order_id, key.id, now);
  return order;
});

const app = express();
app.disable("x-powered-by");
app.disable("etag");
const api = express.Router();
api.use((request, response, next) => {
  const text = request.get("x-api-key");
  if (!text) return refuse(response, 401, "X-API-Key header is required");
  const key = findKey.get(hashKey(text));
  if (!key) return refuse(response, 401, "Invalid API key");
  if (!key.active) return refuse(response, 403, "API key is inactive");
  request.key = key;
  next();
});
api.post("/orders", express.json({ limit: "64kb" }), (request, response) => {
  const fault = faultOf(request.body);
  if (fault) return refuse(response, 400, fault);
  const { link, quantity } = request.body;
  const service = findService.get(request.body.service);
  if (!service) return refuse(response, 400, "Service not found");
  if (quantity < service.min) return refuse(response, 400, `Minimum order is ${service.min}`);
  if (quantity > service.max) return refuse(response, 400, `Maximum order is ${service.max}`);
  const order = place.immediate(request.key, service, link.trim(), quantity);
  if (!order) return refuse(response, 400, "Insufficient balance");
  response.json({ status: "success", order: orderShape(order) });
});
api.get("/orders/:id", (request, response) => {
  const order = findOrder.get(request.params.id, request.key.user_id);
  if (!order) return refuse(response, 404, "Order not found");
  response.json({
    status: "success",
    order: { ...orderShape(order), startCount: 0, remains: order.remains },
  });
});
api.get("/balance", (request, response) => {
  const { balance } = findBalance.get(request.key.user_id);
  response.json({ status: "success", balance: balance / 1e6, currency: "USD" });
});
api.get("/services", (_, response) => {
  response.json({ status: "success", services: listServices.all().map(serviceShape) });
});
app.use("/api/v1", api);

const server = app.listen(0, "127.0.0.1", () => {
  process.stdout.write(`listening on http://127.0.0.1:${server.address().port}\n`);
});

function refuse(response, status, message) {
  response.status(status).json({ status: "error", message });
}
