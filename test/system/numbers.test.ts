// Numbers with more digits than a double holds, at every place that reads money, a quantity or an order number: each is taken with
// exactly the value of its text, or refused with nothing changed. The exact value is computed apart, with whole numbers of any size.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readCatalogue } from "../../src/imports/catalogue.ts";
import { readGrants } from "../../src/imports/grants.ts";
import { Form } from "../../src/web/server/form.ts";
import { createSender } from "../../src/providers/call.ts";
import type { ProviderApi } from "../../src/providers/provider.ts";
import { smmApi } from "../../src/providers/smm-api.ts";
import { optionsOf, reseller } from "../support/worlds/shop.ts";
import { type Market, seedMarket } from "../support/seeds/market.ts";
import { askSmmApi, readAnswer } from "../support/http/smm-client.ts";
import { openService } from "../support/worlds/service.ts";

const MANTISSAS = (
  "0 -0 1 -1 +1 01 3 .5 5. 1.5 0.000001 0.0000001 2.9999999999999999999 2.0000000000000000001 3.0000000000000000000 " +
  "157.00000000000000001 0.1000000000000000055511151231257827 0.12345650000000000001 1000000000.00000000001 " +
  "999999999.99999999999 9007199254740992 9007199254740993 1234567890123456789 123456789012345678901234567890 " +
  "0.000000000000000000001 100000000000000000000000 0x10 1_0 1,5 Infinity NaN"
).split(" ");
const EXPONENTS = [
  "",
  "e0",
  "E+1",
  "e-1",
  "e-7",
  "e2",
  "e21",
  "e-400",
  "e400",
  "e0000000000000001",
];
const NUMBERS = MANTISSAS.flatMap((mantissa) => EXPONENTS.map((exponent) => mantissa + exponent));
const JSON_NUMBERS = NUMBERS.filter((text) => {
  return /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text);
});
const PLAIN = /^\d{1,10}(\.\d{1,6})?$/;
const MOST_MICROS = 10n ** 15n;
const MOST_QUANTITY = 10n ** 9n;

/** The value of a decimal text × 10^places; null where that is not whole, too long to write down, or the text no number. */
function exactly(text: string, places: number): bigint | null {
  const match = /^([+-]?)(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?$/.exec(text);
  if (!match || match[2]! + match[3]! === "") return null;
  const [, sign, whole, fraction, exponent = "0"] = match;
  const digits = BigInt(whole! + fraction!) * (sign === "-" ? -1n : 1n);
  const shift = Number(exponent) - fraction!.length + places;
  if (digits === 0n) return 0n;
  if (Math.abs(shift) > 300) return null;
  const power = 10n ** BigInt(Math.abs(shift));
  if (shift >= 0) return digits * power;
  return digits % power === 0n ? digits / power : null;
}

function within(value: bigint | null, least: bigint, most: bigint): bigint | null {
  return value !== null && value >= least && value <= most ? value : null;
}

/** As a number that holds it exactly. */
const sent = (value: bigint | null) => (value === null ? null : Number(value));

const FREE = "Free of charge";
let market: Market;
beforeAll(async () => {
  market = seedMarket(await openService());
  market.service({ id: "free", name: FREE, price: "0", min: 1, max: 1_000_000_000 });
});
afterAll(() => market.stop());

describe("over the API", () => {
  test("an amount is credited with the value of its text, or refused", async () => {
    for (const text of NUMBERS) {
      const isJson = JSON_NUMBERS.includes(text);
      const micros = isJson ? within(exactly(text, 6), 1n, MOST_MICROS) : null;
      market.user(`u${NUMBERS.indexOf(text)}`);
      const username = `u${NUMBERS.indexOf(text)}`;
      const body = `{"username":"${username}","amount":${text}}`;
      const answer = await market.call("POST", "/recharge", market.keyOf("full"), body);
      expect([text, answer.status]).toEqual([text, micros === null ? 400 : 200]);
      expect([text, market.balance(username)]).toEqual([text, Number(micros ?? 0n)]);
      const must = isJson ? /^amount must be/ : /^Request body must be valid JSON$/;
      if (micros === null) expect(answer.body.message).toMatch(must);
    }
  });

  test("a quantity is ordered with the value of its text, or refused", async () => {
    for (const text of JSON_NUMBERS) {
      const quantity = within(exactly(text, 0), 1n, MOST_QUANTITY);
      const body = `{"service":"free","link":"x","quantity":${text}}`;
      const { body: answer } = await market.call("POST", "/orders", market.keyOf("order"), body);
      expect([text, answer.order?.quantity ?? null]).toEqual([text, sent(quantity)]);
      if (quantity === null) expect(answer.message).toStartWith("quantity must be");
    }
  });

  test("numbers in ignored fields cause no error, and digits in text stay text", async () => {
    const link = String.raw`https://example.com/2.9999999999999999999\"`;
    const body = `{"service":"free","link":"${link}","quantity":1,"note":2.9999999999999999999}`;
    const { status, body: answer } = await market.call(
      "POST",
      "/orders",
      market.keyOf("order"),
      body,
    );
    expect([status, answer.order.link]).toEqual([
      200,
      'https://example.com/2.9999999999999999999"',
    ]);
  });

  test("panels get the quantity that they wrote, as a form and as JSON, or no order", async () => {
    const key = market.keyOf("full");
    const listed = await askSmmApi(market.url, { key, action: "services" });
    const { service: number } = listed.body.find(({ name }: { name: string }) => name === FREE);
    let placed = 0;
    const order = async (text: string, body: string, type: string) => {
      const headers = { "content-type": type };
      const response = await fetch(`${market.url}/api/v2`, { method: "POST", body, headers });
      const { body: answer } = await readAnswer(response);
      const made = answer.order === undefined ? null : await orderOf(answer.order);
      const quantity = within(exactly(text, 0), 1n, MOST_QUANTITY);
      if (made === null) return;
      placed += 1;
      expect([text, type, BigInt(made)]).toEqual([text, type, quantity!]);
    };
    const orderOf = async (id: number) =>
      (await market.call("GET", `/orders/${id}`, key)).body.order.quantity as number;
    for (const text of NUMBERS) {
      const form = new URLSearchParams({
        key,
        action: "add",
        service: number,
        link: "x",
        quantity: text,
      });
      await order(text, String(form), "application/x-www-form-urlencoded");
    }
    for (const text of JSON_NUMBERS) {
      const fields = `"key":"${key}","action":"add","service":${number},"link":"x"`;
      await order(text, `{${fields},"quantity":${text}}`, "application/json");
    }
    expect(placed).toBeGreaterThan(15);
  });
});

describe("of the operator", () => {
  test("an amount of the command line is credited with the value of its text, or refused", async () => {
    const user = (await market.call("GET", "/balance", market.keyOf("full"))).body;
    expect(user.status).toBe("success");
    for (const text of NUMBERS.filter((each) => !each.startsWith("-"))) {
      const micros = PLAIN.test(text) ? within(exactly(text, 6), 1n, MOST_MICROS) : null;
      const username = `c${NUMBERS.indexOf(text)}`;
      market.user(username);
      const argv = ["admin", "user", "credit", username, text, "--yes", ...optionsOf(market)];
      const { code } = await reseller(...argv);
      expect([text, code]).toEqual([text, micros === null ? 2 : 0]);
      expect([text, market.balance(username)]).toEqual([text, Number(micros ?? 0n)]);
    }
  });

  test("prices and limits of imports have the value of their text, or the row is wrong", () => {
    let right = 0;
    const expectRow = (text: string, column: "price" | "min", file: string, content: string) => {
      const { services, wrong } = readCatalogue(file, content);
      expect(services.length + wrong.length).toBe(1);
      const [service] = services;
      if (!service) return;
      right += 1;
      const [value, places] = column === "price" ? [service.priceMicros, 6] : [service.min, 0];
      expect([file, text, BigInt(value!)]).toEqual([file, text, exactly(text, places)!]);
    };
    for (const text of NUMBERS) {
      const quoted = `"${text}"`;
      expectRow(text, "price", "a.csv", `name,price,min,max\nx,${quoted},1,1000000000`);
      expectRow(text, "min", "a.csv", `name,price,min,max\nx,1,${quoted},1000000000`);
      for (const json of [quoted, ...(JSON_NUMBERS.includes(text) ? [text] : [])]) {
        expectRow(
          text,
          "price",
          "a.json",
          `[{"name":"x","price":${json},"min":1,"max":1000000000}]`,
        );
        expectRow(text, "min", "a.json", `[{"name":"x","price":1,"min":${json},"max":1000000000}]`);
      }
      const { grants } = readGrants("g.csv", `service,username,price\ns,u,${quoted}`);
      if (grants[0]?.priceMicros != null) {
        expect([text, grants[0].priceMicros]).toEqual([text, sent(exactly(text, 6))!]);
      }
    }
    expect(right).toBeGreaterThan(40);
  });

  test("fields of the panel's forms have the value of their text, or are marked as wrong", () => {
    let right = 0;
    for (const text of NUMBERS) {
      const form = new Form(new URLSearchParams({ amount: text, price: text, whole: text }));
      const read: [string, number, number][] = [
        ["amount", form.amount("amount"), 6],
        ["price", form.price("price"), 6],
        ["whole", form.whole("whole", 0, Number.MAX_SAFE_INTEGER), 0],
      ];
      for (const [name, value, places] of read) {
        if (form.errors.has(name)) continue;
        right += 1;
        expect([name, text, BigInt(value)]).toEqual([name, text, exactly(text, places)!]);
      }
    }
    expect(right).toBeGreaterThan(10);
  });
});

describe("of a provider", () => {
  let reply = "";
  const upstream = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response(reply) });
  afterAll(() => upstream.stop(true));
  const never = new AbortController().signal;
  const provider = smmApi(
    createSender(`http://127.0.0.1:${upstream.port}/`, 5000),
    "a-key-of-a-provider",
  );
  const ask = <T>(text: string, call: (api: ProviderApi) => T): T => {
    reply = text;
    return call(provider);
  };
  /** Each number as panels write it: as a number, where JSON has it, and as text. */
  const written = NUMBERS.flatMap((text): [string, string][] => [
    ...(JSON_NUMBERS.includes(text) ? [[text, text] as [string, string]] : []),
    [text, `"${text}"`],
  ]);

  test("an order's number is that of its text, above 2^53 too, or unknown", async () => {
    const taken: string[] = [];
    for (const [text, json] of written) {
      const order = { service: "1", link: "x", fields: {}, orderId: 1 } as never;
      const result = await ask(`{"order":${json}}`, (api) => api.submit(order, never));
      if (result.outcome === "accepted") {
        taken.push(json);
        expect([json, BigInt(result.providerOrder)]).toEqual([json, exactly(text, 0)!]);
      } else expect(result.outcome).toBe("unknown");
    }
    for (const number of ["9007199254740993", "1234567890123456789"]) {
      expect(taken).toContain(number);
      expect(taken).toContain(`"${number}"`);
    }
  });

  test("a charge, a remaining quantity and a start count have the value of their text, or are unknown", async () => {
    let read = 0;
    for (const [text, json] of written) {
      const body = `{"status":"Partial","charge":${json},"remains":${json},"start_count":${json}}`;
      const result = await ask(body, (api) => api.status(["1"], never));
      if (!("reports" in result)) throw new Error(result.failed);
      const { remains, startCount, cost } = result.reports.get("1")!;
      for (const value of [remains, startCount]) {
        if (value === null) continue;
        read += 1;
        expect([json, BigInt(value)]).toEqual([json, exactly(text, 0)!]);
      }
      if (cost === undefined) continue;
      read += 1;
      expect([json, exactly(cost.charge, 40)]).toEqual([json, exactly(text, 40)!]);
    }
    expect(read).toBeGreaterThan(100);
  });

  test("a service's rate and limits have the value of their text, or its entry is unreadable", async () => {
    let read = 0;
    for (const [text, json] of written) {
      for (const column of ["rate", "min", "service"]) {
        const fields = { service: '"7"', rate: '"1"', min: '"1"', max: '"2"', [column]: json };
        const members = Object.entries(fields).map(([name, value]) => `"${name}":${value}`);
        const body = `[{"name":"n","type":"Default",${members.join(",")}}]`;
        const [entry] = await ask(body, (api) => api.services(never));
        if (!entry || "unreadable" in entry) continue;
        read += 1;
        const value = String(entry[column as "rate" | "min" | "service"]);
        if (column === "service" && json.startsWith('"')) expect(value).toBe(text);
        else expect([json, exactly(value, 40)]).toEqual([json, exactly(text, 40)!]);
      }
    }
    expect(read).toBeGreaterThan(100);
  });

  test("a number is never accepted as text, however long it is", async () => {
    const long = "1.23456789012345678901";
    const order = { service: "1", link: "x", fields: {}, orderId: 1 } as never;
    for (const body of [`{"error":${long}}`, `{"error":[${long}]}`, `{"order":{"a":${long}}}`]) {
      expect((await ask(body, (api) => api.submit(order, never))).outcome).toBe("unknown");
    }
    const result = await ask(`{"status":${long}}`, (api) => api.status(["1"], never));
    if (!("reports" in result)) throw new Error(result.failed);
    expect(result.reports.get("1")).toMatchObject({ word: null, text: `{"status":${long}}` });
  });
});
