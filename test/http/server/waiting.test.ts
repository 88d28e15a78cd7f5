// Requests with an Idempotency-Key whose order waits for its provider: duplicates wait as well and get the same
// response; after a crash they get the order's current state.

import { afterEach, beforeEach, expect, test } from "bun:test";
import { findOrder, type Order } from "../../../src/db/orders/orders.ts";
import { findUser } from "../../../src/db/users/users.ts";
import { orderResponse } from "../../../src/domain/orders/responses.ts";
import { type Claim, hashRequest } from "../../../src/domain/values/idempotency.ts";
import { refusal } from "../../../src/domain/values/error-table.ts";
import { respondOnce } from "../../../src/http/server/idempotency.ts";
import type { Outcome } from "../../../src/operations/batch/idempotency.ts";
import type { ServerDatabase } from "../../../src/server/database.ts";
import { apiOf, openServerDatabase } from "../../support/worlds/service.ts";
import { freshDatabase, micros, type TestDatabase } from "../../support/databases/test-database.ts";

let database: TestDatabase;
let server: ServerDatabase;
let api: ReturnType<typeof apiOf>;
let account: number;
let keyId: string;

beforeEach(async () => {
  database = freshDatabase();
  database.user("anna", "100");
  database.service({ id: "likes", price: "10" });
  keyId = database.key("anna", "full").id;
  account = database.read((reader) => findUser(reader, "anna"))!.account;
  // What placeOrderOnce leaves for an order that goes to a provider: no answer yet.
  database.dropTrigger("idempotency_keeps_its_response");
  server = await openServerDatabase(database);
  api = apiOf(server);
});
afterEach(async () => {
  await server.close();
  database.close();
});

function claim(body = "{}"): Claim {
  return { key: "k", requestHash: hashRequest("POST", "/api/v1/orders", Buffer.from(body)) };
}

/** Places the order once, and leaves the first request without a response. */
async function place(by: Claim): Promise<Outcome<Order>> {
  const order = { resellerAccount: account, keyId, service: "likes", link: "a", quantity: 100 };
  const outcome = await api.writer.submit("placeOrderOnce", { order, claim: by });
  if (outcome.replayed) return outcome;
  database.query("UPDATE idempotency SET response_status = NULL, response_body = NULL");
  return {
    replayed: false,
    response: null,
    effect: database.read((reader) => findOrder(reader, "1"))!,
  };
}

function request(wait: (order: Order) => object | Promise<object>, by = claim()) {
  const caller = { key: { resellerAccount: account }, requestId: "waiting" };
  return respondOnce(api, caller, by, () => place(by), orderResponse, wait);
}

test("fifty concurrent duplicates wait for the first, have one effect and get its response", async () => {
  const provider = Promise.withResolvers<object>();
  let asked = 0;
  const wait = () => {
    asked++;
    return provider.promise;
  };
  const all = Array.from({ length: 50 }, () => request(wait));
  await Bun.sleep(50);
  provider.resolve({ status: "success", order: "as the provider left it" });
  const answers = await Promise.all(all);
  expect(new Set(answers.map(({ response }) => response.body)).size).toBe(1);
  expect(answers[0]!.response.body).toContain("as the provider left it");
  expect(answers.filter(({ replayed }) => replayed).length).toBe(49);
  expect(asked).toBe(1);
  expect(database.balance("anna")).toBe(micros("99"));
  expect((await request(wait)).response).toEqual(answers[0]!.response);
  expect(api.inFlight.size).toBe(0);
});

test("another request under the key does not wait for the first: it is refused at once", async () => {
  const provider = Promise.withResolvers<object>();
  const first = request(() => provider.promise);
  await Bun.sleep(20);
  const other = request(() => provider.promise, claim("another body"));
  expect(await other.catch((error: unknown) => String(error))).toContain("idempotency_key_reused");
  provider.resolve({});
  expect((await first).replayed).toBe(false);
});

test("a refusal is stored too, because the order exists", async () => {
  const wait = () => Promise.reject(refusal("service_not_found"));
  const first = await request(wait);
  const second = await request(wait);
  expect(first.response.status).toBe(400);
  expect(second).toEqual({ response: first.response, replayed: true } as typeof second);
  expect(database.balance("anna")).toBe(micros("99"));
});

test("when the process died before the response, each duplicate gets the order's current state", async () => {
  await place(claim());
  const never = () => Promise.reject(new Error("asked again"));
  const first = await request(never);
  expect(first.response).toMatchObject({ status: 200 });
  expect(JSON.parse(first.response.body).order.status).toBe("PROCESSING");
  const actor = { keyId: null, operator: "tester" };
  database.run("transitionOrder", { id: "1", to: "CANCELLED", note: null, actor });
  const second = await request(never);
  expect(JSON.parse(second.response.body).order.status).toBe("CANCELLED");
  expect(second.replayed).toBe(true);
});
