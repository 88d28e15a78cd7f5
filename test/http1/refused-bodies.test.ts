// Bodies that are refused before they arrive, and Expect: 100-continue.

import { afterAll, describe, expect, test } from "bun:test";
import { BODY_LIMIT_BYTES } from "../../src/domain/values/limits.ts";
import { rawRequests, seedMarket, request } from "../support/seeds/market.ts";
import { expectError } from "../support/http/refusal.ts";
import { openService } from "../support/worlds/service.ts";

const market = seedMarket(await openService());
const { jsonFields, balance, sent } = rawRequests(market);
afterAll(() => market.stop());

describe("Expect: 100-continue", () => {
  const expecting = (fields: string[]) =>
    request("POST", "/api/v1/orders", [...fields, "expect: 100-continue"]);

  test("gets 100 before the body of a request that is permitted", async () => {
    const body = JSON.stringify({ service: market.serviceId, link: "expected", quantity: 10 });
    const length = `content-length: ${body.length}`;
    const connection = await sent(expecting([...jsonFields(), length]));
    expect((await connection.response())?.status).toBe(100);
    connection.send(body);
    expect((await connection.response())?.body.order.link).toBe("expected");
    connection.close();
  });

  test.each([
    ["without a key", 401, ["content-length: 20"]],
    ["too long", 413, null],
  ])("is not answered with 100 %s", async (_title, status, fields) => {
    const tooLong = [...jsonFields(), `content-length: ${BODY_LIMIT_BYTES + 1}`];
    const connection = await sent(expecting(fields ?? tooLong));
    const answer = (await connection.response())!;
    expect([answer.status, answer.headers.get("connection")]).toEqual([status, "close"]);
    expect(await connection.rest()).toBe("");
    connection.close();
  });
});

describe("a body that is too long", () => {
  const long = "x".repeat(2 * BODY_LIMIT_BYTES);
  test.each([
    ["announced", [`content-length: ${long.length}`], long],
    ["in one chunk", ["transfer-encoding: chunked"], `${long.length.toString(16)}\r\n${long}`],
    [
      "in many chunks",
      ["transfer-encoding: chunked"],
      `1000\r\n${"x".repeat(4096)}\r\n`.repeat(40),
    ],
  ])("is refused before its end, and the refusal arrives: %s", async (_title, fields, body) => {
    const connection = await sent(
      request("POST", "/api/v1/orders", [...jsonFields(), ...fields], body),
    );
    const answer = (await connection.response())!;
    expectError(answer, 413, "Request body too large");
    expect(answer.headers.get("connection")).toBe("close");
    // It continues to send anyway.
    for (let more = 0; more < 50; more++) connection.send(long);
    expect(await connection.rest()).toBe("");
    connection.close();
  });

  test("of a refused request is not read endlessly", async () => {
    const chunk = `1000\r\n${"x".repeat(4096)}\r\n`;
    const fields = ["transfer-encoding: chunked"];
    const connection = await sent(request("POST", "/api/v1/orders", fields, chunk));
    expect((await connection.response())?.status).toBe(401);
    for (let more = 0; more < 20; more++) connection.send(chunk);
    expect(await connection.rest()).toBe("");
    connection.close();
  });
});

test("a body that is refused before it arrives is skipped, and the connection stays open", async () => {
  const connection = await sent(request("POST", "/api/v1/orders", ["content-length: 5"]));
  expect((await connection.response())?.status).toBe(401);
  connection.send(`12345${balance()}`);
  expect((await connection.response())?.body).toHaveProperty("balance");
  connection.close();
});
