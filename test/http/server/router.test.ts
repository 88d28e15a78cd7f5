// A method that a path does not support: 405 with Allow, whatever the method.

import { afterAll, describe, expect, test } from "bun:test";
import { openRaw } from "../../support/http/raw.ts";
import { rawRequests, seedMarket, request } from "../../support/seeds/market.ts";
import { expectEnvelope, expectError } from "../../support/http/refusal.ts";
import { openService } from "../../support/worlds/service.ts";

const market = seedMarket(await openService());
const { key, balance, sent } = rawRequests(market);
afterAll(() => market.stop());

describe("a method that a path does not support is a 405:", () => {
  const METHODS = ["FOO", "get", "G3T", "Post", "post", "X", "PROPFIND", "QUERY", "TRACE", "PATCH"];
  const PATHS: [path: string, allow: string | null][] = [
    ["/api/v1/orders", "POST, GET"],
    ["/api/v1/balance", "GET"],
    ["/api/v1/orders/%62atch", "POST"],
    ["/api/v1/nowhere", null],
    ["/docs", "GET"],
    ["/openapi.json", "GET"],
    ["/livez", "GET"],
  ];
  test.each([...METHODS, "POST", "PUT", "DELETE", "OPTIONS"])("%s", async (method) => {
    const before = market.fingerprint();
    for (const [path, allow] of PATHS) {
      if (method === "POST" && path.startsWith("/api")) continue;
      const fields = [`x-api-key: ${key}`, "x-request-id: mine", "content-length: 2"];
      const connection = await sent(request(method, path, fields, "{}") + balance());
      const answer = (await connection.response())!;
      if (allow === null) expectError(answer, 404, "Not found");
      else expectError(answer, 405, "Method not allowed");
      expect([path, answer.headers.get("allow")]).toEqual([path, allow]);
      expect(answer.body.requestId).toBe("mine");
      expectEnvelope(answer);
      // Its body was passed over: what follows is a request again.
      expect((await connection.response())?.body).toHaveProperty("balance");
      connection.close();
    }
    expect(market.fingerprint()).toBe(before);
  });

  test("also an unknown method that arrives in parts", async () => {
    const connection = await openRaw(market.url);
    for (const part of ["\r\nGE", "X", "Y ", "/docs HTTP/1.1\r\n", "host: x\r\n\r\n"]) {
      connection.send(part);
      await fetch(`${market.url}/livez`);
    }
    expectError((await connection.response())!, 405, "Method not allowed");
    connection.close();
  });

  test.each(["/docs", "/api/v1/balance", "/api/v1/orders/1"])("HEAD %s", async (path) => {
    const fields = [`x-api-key: ${key}`, "x-request-id: mine"];
    const connection = await sent(request("HEAD", path, fields) + balance());
    const head = (await connection.response(true))!;
    expect([head.status, head.headers.get("allow")]).toEqual([405, "GET"]);
    expect(head.headers.get("x-request-id")).toBe("mine");
    // The length of the body that it does not send.
    expect(Number(head.headers.get("content-length"))).toBeGreaterThan(0);
    expect((await connection.response())?.body).toHaveProperty("balance");
    connection.close();
  });

  test("CONNECT, which closes the connection", async () => {
    const connection = await sent(request("CONNECT", "example.com:443") + balance());
    const answer = (await connection.response())!;
    expectError(answer, 404, "Not found");
    expect(answer.headers.get("connection")).toBe("close");
    expect(await connection.rest()).toBe("");
    connection.close();
  });
});
