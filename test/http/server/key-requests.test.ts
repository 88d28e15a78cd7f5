// What the operator is told of a key's requests: each is counted once, by its key, with those that got an error.

import { expect, test } from "bun:test";
import { readKeyRequests } from "../../../src/db/users/key-requests.ts";
import { callApi } from "../../support/http/api.ts";
import { smmClientOf } from "../../support/http/smm-client.ts";
import { freshDatabase } from "../../support/databases/test-database.ts";
import { startTestService } from "../../support/worlds/service.ts";

test("requests of both APIs are counted by key, refused ones as errors too; unknown keys are not counted", async () => {
  const database = freshDatabase();
  database.user("anna", "10");
  database.service({ id: "likes", min: 10, max: 100 });
  const [full, order, off] = [
    database.key("anna", "full"),
    database.key("anna", "order"),
    database.key("anna", "order"),
  ];
  database.run("setKeyActive", { id: off.id, active: false });
  const service = await startTestService(database.location);
  const call = (key: string, method: string, path: string, body?: object) =>
    callApi(service.url, method, path, key, body);
  const body = { service: "likes", link: "x", quantity: 10 };
  expect((await call(full.text, "POST", "/orders", body)).status).toBe(200);
  expect((await call(full.text, "GET", "/balance")).status).toBe(200);
  expect((await call(full.text, "POST", "/orders", { ...body, quantity: 1 })).status).toBe(400);
  expect((await call(full.text, "GET", "/orders/99")).status).toBe(404);
  // Not permitted, switched off, unknown, and no route at all.
  expect((await call(order.text, "GET", "/user?username=anna")).status).toBe(403);
  expect((await call(off.text, "GET", "/balance")).status).toBe(403);
  expect((await call(`${order.text}x`, "GET", "/balance")).status).toBe(401);
  expect((await call(full.text, "GET", "/nowhere")).status).toBe(404);
  const panel = smmClientOf(service.url, order.text);
  await panel("balance");
  await panel("status", { order: "99" });
  await service.stop();
  const ids = [full.id, order.id, off.id];
  const counts = database.read((reader) => ids.map(readKeyRequests(reader, ids, 0)));
  expect(counts).toEqual([
    { requests: 4, errors: 2 },
    { requests: 3, errors: 2 },
    { requests: 1, errors: 1 },
  ]);
  database.close();
});
