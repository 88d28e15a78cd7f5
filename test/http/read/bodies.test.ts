// Request bodies: bytes, JSON, and each field. docs/specification/http.md#http-bodies and #fields.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { BODY_LIMIT_BYTES } from "../../../src/domain/values/limits.ts";
import { type Market, MARKER, seedMarket } from "../../support/seeds/market.ts";
import { rawRequest, sendRaw } from "../../support/http/raw.ts";
import { expectEnvelope, expectRefusal } from "../../support/http/refusal.ts";
import type { Answer } from "../../support/http/api.ts";
import { openService } from "../../support/worlds/service.ts";

let market: Market;
beforeAll(async () => {
  market = seedMarket(await openService());
  market.service({ id: "free", price: "0", min: 1, max: 1_000_000_000 });
});
afterAll(() => market.stop());

/** POST /orders with a body to the letter. */
const post = (body: string, headers?: Record<string, string>): Promise<Answer> =>
  market.call("POST", "/orders", market.keyOf("order"), body, headers);

const withQuantity = (literal: string) => `{"service":"free","link":"x","quantity":${literal}}`;
const withLink = (link: string) => JSON.stringify({ service: "free", link, quantity: 1 });

describe("a number of a body is read by its digits, not as the nearest double:", () => {
  test.each([
    ["1e2", 100],
    ["100.0", 100],
  ])("%s is %d", async (literal, quantity) => {
    const { status, body } = await post(withQuantity(literal));
    expect([status, body.order?.quantity]).toEqual([200, quantity]);
  });

  test.each([
    ['"100"', "quantity must be a whole number"],
    ["1e-400", "quantity must be a whole number"],
    ["0.9999999999999999999999", "quantity must be a whole number"],
    ["9007199254740993", "quantity must be a whole number from 1 to 1000000000"],
    ["null", "quantity is required"],
  ])("%s: %s", async (literal, message) => {
    const sent = { method: "POST", path: "/orders", key: market.keyOf("order") };
    await expectRefusal(market, { ...sent, body: withQuantity(literal) }, 400, message);
  });

  test.each(["0100", "+1", "1.", ".5", "0x10", "NaN", "Infinity", "1_000", "1n"])(
    "%s is not JSON",
    async (literal) => {
      const answer = await post(withQuantity(literal));
      expect([answer.status, answer.body.message]).toEqual([
        400,
        "Request body must be valid JSON",
      ]);
    },
  );

  test.each([
    ["1e-400", "amount must be a number with at most six decimals"],
    ["null", "amount is required"],
    ['"1"', "amount must be a positive number"],
  ])("an amount of %s: %s", async (literal, message) => {
    const sent = { method: "POST", path: "/recharge", key: market.keyOf("recharge") };
    const body = `{"username":"dora","amount":${literal}}`;
    await expectRefusal(market, { ...sent, body }, 400, message);
  });

  test("an amount is credited to the micro", async () => {
    const before = market.balance("dora");
    const body = '{"username":"dora","amount":999999999.999999}';
    const answer = await market.call("POST", "/recharge", market.keyOf("recharge"), body);
    expect([answer.status, answer.body.amount]).toEqual([200, 999_999_999.999999]);
    expect(market.balance("dora") - before).toBe(999_999_999_999_999);
  });
});

describe("link", () => {
  test.each([
    ["is trimmed", "  \t\n\u00a0\ufeffabc \r\n\u3000", "abc"],
    ["may hold 2048 UTF-16 units of pairs", "😀".repeat(1024), "😀".repeat(1024)],
  ])("%s", async (_title, link, stored) => {
    const { status, body } = await post(withLink(link));
    expect([status, body.order?.link]).toEqual([200, stored]);
    const rows = market.query("SELECT link FROM orders WHERE id = ?", body.order.id);
    expect(rows).toEqual([{ link: stored }]);
  });

  test.each([
    ["half a pair", "a\ud800b"],
    ["a number", 5],
  ])("is refused: %s", async (_title, link) => {
    const answer = await post(JSON.stringify({ service: "free", link, quantity: 1 }));
    const message = "link must be 1 to 2048 characters without control characters";
    expect([answer.status, answer.body.message]).toEqual([400, message]);
  });
});

describe("a body's members", () => {
  test.each([
    ["unknown ones are ignored", '{"x":1,"service":"free","link":"x","quantity":1}'],
    ["the last of two counts", '{"quantity":"a","service":"free","link":"x","quantity":1}'],
    ["escaped names count", '{"\\u0073ervice":"free","link":"x","quantity":1}'],
    ["__proto__ is unknown", '{"__proto__":{"link":1},"service":"free","link":"x","quantity":1}'],
    ["white space around it is allowed", '\r\n\t {"service":"free","link":"x","quantity":1} \n'],
  ])("%s", async (_title, body) => {
    expect((await post(body)).status).toBe(200);
  });

  test.each([
    [
      "null replaces an earlier value",
      '{"service":"free","link":"x","quantity":1,"quantity":null}',
    ],
    ["__proto__ gives none", '{"__proto__":{"quantity":1},"service":"free","link":"x"}'],
    ["constructor gives none", '{"constructor":{"quantity":1},"service":"free","link":"x"}'],
    ["another case is another name", '{"service":"free","link":"x","Quantity":1}'],
  ])("%s", async (_title, body) => {
    const { status, body: answer } = await post(body);
    expect([status, answer.message]).toEqual([400, "quantity is required"]);
  });

  test.each(["free\0", "FREE", " free", "\ud800", "free' OR '1'='1", "x".repeat(60_000)])(
    "service that names no service is Service not found: %.20j",
    async (service) => {
      const answer = await post(JSON.stringify({ service, link: "x", quantity: 1 }));
      expect([answer.status, answer.body.message]).toEqual([400, "Service not found"]);
    },
  );
});

describe("a body is refused as invalid JSON:", () => {
  const VALID = Buffer.from(withQuantity("1"));
  test.each<[string, Uint8Array]>([
    ["a byte-order mark in front", Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), VALID])],
    ["UTF-16", Buffer.from(withQuantity("1"), "utf16le")],
    [
      "a byte that is not UTF-8",
      Buffer.concat([VALID.subarray(0, 12), Buffer.from([0xff]), VALID]),
    ],
    ["an overlong slash", Buffer.from([0x7b, 0x22, 0xc0, 0xaf, 0x22, 0x3a, 0x31, 0x7d])],
    ["half a pair as bytes", Buffer.from([0x7b, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x3a, 0x31, 0x7d])],
    ["a raw control character", Buffer.from('{"link":"a\nb"}')],
    ["a comma at the end", Buffer.from('{"link":"x",}')],
    ["a comment", Buffer.from("{}//")],
    ["two values", Buffer.from("{}{}")],
    ["nesting without end", Buffer.from("[".repeat(60_000))],
    ["a NUL at the end", Buffer.from("{}\0")],
  ])("%s", async (_title, bytes) => {
    const head = rawRequest("POST", "/api/v1/orders", [
      `x-api-key: ${market.keyOf("order")}`,
      "content-type: application/json",
      `content-length: ${bytes.length}`,
    ]);
    const answer = await sendRaw(market.url, Buffer.concat([Buffer.from(head), bytes]));
    expect([answer.status, answer.body?.message]).toEqual([400, "Request body must be valid JSON"]);
    expectEnvelope(answer);
  });

  test.each(["null", "[]", "1", '"x"', "true"])("%s is not an object", async (body) => {
    const answer = await post(body);
    expect([answer.status, answer.body.message]).toEqual([
      400,
      "Request body must be a JSON object",
    ]);
  });
});

describe("content type", () => {
  test.each([
    "application/json",
    "APPLICATION/JSON",
    "application/json; charset=utf-8",
    "application/json ;x=y",
  ])("%s is JSON", async (type) => {
    expect((await post(withQuantity("1"), { "content-type": type })).status).toBe(200);
  });

  test.each([
    "text/plain",
    "text/json",
    "application/jsonx",
    "application/json, text/plain",
    "application/problem+json",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
  ])("%s is not", async (type) => {
    const answer = await post(withQuantity("1"), { "content-type": type });
    expect([answer.status, answer.body.message]).toEqual([
      415,
      "Content-Type must be application/json",
    ]);
  });
});

describe("a body's length", () => {
  const padded = (length: number) => withQuantity("1").padEnd(length, " ");
  const chunks = (body: string) =>
    [...(body.match(/[^]{1,9000}/g) ?? []), ""]
      .map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`)
      .join("");
  const raw = (headers: string[], body: string) => {
    const all = [`x-api-key: ${market.keyOf("order")}`, "content-type: application/json"];
    return sendRaw(market.url, rawRequest("POST", "/api/v1/orders", [...all, ...headers], body));
  };

  test("may be 64 KiB, announced or in chunks", async () => {
    const body = padded(BODY_LIMIT_BYTES);
    expect((await raw([`content-length: ${body.length}`], body)).status).toBe(200);
    expect((await raw(["transfer-encoding: chunked"], chunks(body))).status).toBe(200);
  });

  test("may not be one byte more: 413, in the envelope, and nothing is written", async () => {
    const body = padded(BODY_LIMIT_BYTES + 1);
    const before = market.fingerprint();
    for (const answer of [
      await raw([`content-length: ${body.length}`], body),
      await raw([`content-length: ${body.length}`, `x-note: ${MARKER}`], ""),
      await raw(["transfer-encoding: chunked"], chunks(body)),
      await raw(["content-length: 1000000000000"], ""),
    ]) {
      expect([answer.status, answer.body?.message]).toEqual([413, "Request body too large"]);
      expectEnvelope(answer);
    }
    expect(market.fingerprint()).toBe(before);
  });

  test("is not waited for without a key: 401 before the body is sent", async () => {
    const announced = ["content-type: application/json", "content-length: 1000000000000"];
    const request = rawRequest("POST", "/api/v1/orders", announced);
    const answer = await sendRaw(market.url, request);
    expect([answer.status, answer.body?.message]).toEqual([401, "X-API-Key header is required"]);
  });
});
