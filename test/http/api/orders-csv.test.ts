// GET /orders as CSV: the same orders as in JSON, under every filter.

import { parse } from "csv-parse/sync";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { formatMicros } from "../../../src/domain/ledger/money.ts";
import { readAll } from "../../support/http/pages.ts";
import type { Body } from "../../support/http/api.ts";
import { openService, type TestService } from "../../support/worlds/service.ts";

const LINKS = ['say "hi", twice', "=1+1", "@cmd", "-2", "https://example.com/ü"];

let service: TestService;
let key: string;
const ids: string[] = [];

beforeAll(async () => {
  service = await openService();
  for (const name of ["anna", "bert"]) service.user(name, "1000000");
  key = service.key("anna", "order").text;
  service.service({ id: "likes", name: "Likes, many" });
  service.service({ id: "views", name: "views" });
  for (let index = 0; index < 450; index++) {
    const body: Body = {
      service: index % 3 === 0 ? "views" : "likes",
      link: LINKS[index % LINKS.length],
      quantity: 100,
    };
    if (index === 7) body.reference = "r,7";
    const answer = await service.call("POST", "/orders", key, body);
    expect(answer.status).toBe(200);
    ids.push(answer.body.order.id);
  }
  const strange = service.key("bert", "order").text;
  const other = { service: "likes", link: "x", quantity: 100 };
  ids.push((await service.call("POST", "/orders", strange, other)).body.order.id);
});
afterAll(() => service.stop());

async function csv(query: string, accept = "text/csv") {
  const response = await fetch(`${service.url}/api/v1/orders?${query}`, {
    headers: { "x-api-key": key, accept },
  });
  return { type: response.headers.get("content-type"), status: response.status, response };
}

const rowOf = (order: Body) => ({
  id: order.id,
  orderId: String(order.orderId),
  service: order.service,
  link: /^[=@-]/.test(order.link) ? `'${order.link}` : order.link,
  quantity: String(order.quantity),
  charge: formatMicros(Math.round(order.charge * 1e6)),
  status: order.status,
  startCount: String(order.startCount),
  remains: String(order.remains),
  createdAt: order.createdAt,
  reference: order.reference ?? "",
  fields: "",
});

test.each(["", "status=PROCESSING", "service=views", "reference=r%2C7", "status=COMPLETED"])(
  "with %j the CSV has every order of the JSON list, whatever the limit",
  async (filter) => {
    const { type, response } = await csv(`${filter}&limit=1`);
    expect(type).toBe("text/csv; charset=utf-8");
    const rows = parse(await response.text(), { columns: true, record_delimiter: "\r\n" });
    const orders = await readAll(service, key, `/orders?${filter}&limit=100`, "orders");
    expect(rows).toEqual(orders.map(rowOf));
  },
);

test("with ids the CSV has the caller's own orders, in the order of the ids", async () => {
  const asked = [ids[4], ids.at(-1), ids[0], "99999"];
  const { response } = await csv(`ids=${asked.join()}`);
  const rows = parse(await response.text(), { columns: true, record_delimiter: "\r\n" });
  const { body } = await service.call("GET", `/orders?ids=${asked.join()}`, key);
  expect(body.orders).toHaveLength(2);
  expect(rows).toEqual(body.orders.map(rowOf));
});

test("only an explicit text/csv in Accept selects it, and a bad filter is a 400 in JSON", async () => {
  for (const accept of ["*/*", "application/json", "text/*"]) {
    expect((await csv("limit=1", accept)).type).toBe("application/json");
  }
  const { status, type } = await csv("status=LOST");
  expect([status, type]).toEqual([400, "application/json"]);
});
