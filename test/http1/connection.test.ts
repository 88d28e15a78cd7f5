// Requests of one connection: their order, and when it closes.

import { afterAll, expect, test } from "bun:test";
import { rawRequests, seedMarket, request } from "../support/seeds/market.ts";
import { openService } from "../support/worlds/service.ts";

const market = seedMarket(await openService());
const { key, balance, order, ordersOf, sent } = rawRequests(market);
afterAll(() => market.stop());

test("pipelined reads and writes are handled one after the other", async () => {
  const connection = await sent(
    order("pipelined-1") + balance() + order("pipelined-2") + balance() + request("GET", "/x"),
  );
  const answers = [];
  for (let count = 0; count < 5; count++) answers.push((await connection.response())!);
  connection.close();
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 404]);
  const [first, after, second, last] = answers.map(({ body }) => body);
  expect([first.order.link, second.order.link]).toEqual(["pipelined-1", "pipelined-2"]);
  expect(Math.round((after.balance - last.balance) * 1e6)).toBe(
    Math.round(second.order.charge * 1e6),
  );
});

test("3,000 pipelined requests get their responses in order", async () => {
  const all = Array.from({ length: 3000 }, (_, n) =>
    request("GET", "/livez", [`x-request-id: ${n}`]),
  );
  const connection = await sent(all.join(""));
  for (let n = 0; n < all.length; n++) {
    expect((await connection.response())?.headers.get("x-request-id")).toBe(String(n));
  }
  connection.close();
});

test("a client that half-closes the connection still gets its response", async () => {
  const connection = await sent(order("half-closed"));
  connection.finish();
  expect((await connection.response())?.body.order.link).toBe("half-closed");
  expect(await connection.rest()).toBe("");
  connection.close();
});

test.each([
  ["head", (text: string) => text.slice(0, 60)],
  ["body", (text: string) => text.slice(0, -1)],
])("a client that goes away in the middle of a %s has done nothing", async (_, cut) => {
  const before = market.fingerprint();
  const connection = await sent(cut(order("cut")));
  connection.finish();
  // Whatever is said, it is not that something was done.
  expect(await connection.rest()).not.toContain("200 OK");
  connection.close();
  await fetch(`${market.url}/livez`);
  expect(market.fingerprint()).toBe(before);
});

test("Upgrade is ignored: the request gets its response and the connection closes", async () => {
  const fields = ["connection: Upgrade", "upgrade: h2c"];
  const connection = await sent(order("upgraded", fields) + balance());
  const answer = (await connection.response())!;
  expect([answer.status, answer.headers.get("connection")]).toEqual([200, "close"]);
  expect(await connection.rest()).toBe("");
  connection.close();
  expect(ordersOf("upgraded")).toBe(1);
});

test("a response to a slow reader arrives whole", async () => {
  market.run("createService", {
    id: "large",
    name: "é€".repeat(100),
    priceMicros: 1,
    per: "1000",
    min: 1,
    max: 10,
    private: false,
  });
  const connection = await sent(
    request("GET", "/api/v1/services", [`x-api-key: ${key}`]).repeat(3000),
  );
  const first = (await connection.response())!;
  expect(Buffer.from(first.text, "utf8").length).toBe(Number(first.headers.get("content-length")));
  for (let more = 1; more < 3000; more++) {
    const answer = (await connection.response())!;
    if (answer.text !== first.text) throw new Error(`response ${more} is another`);
  }
  connection.close();
});
