// The OpenAPI document describes what the server does: every route, every example, every error that all routes share.
// callApi checks every other response of the test suite against it.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { parseCatalogue } from "../../../src/cli/catalogue/service-import.ts";
import type {
  DocumentExample,
  ExampleRequest,
  OpenApiDocument,
  OpenApiOperation,
  OpenApiResponse,
} from "../../../src/api-docs/schemas/document.ts";
import type { Schema } from "../../../src/api-docs/schemas/operation.ts";
import { renderPage, renderSmmApiPage } from "../../../src/api-docs/page/page.tsx";
import { createDocument } from "../../../src/http/server/openapi.ts";
import { WEBHOOK_EVENT_TYPES } from "../../../src/domain/webhooks/webhook-events.ts";
import { EVENT_ID, REQUEST_ID, WEBHOOK_ID } from "../../../src/api-docs/schemas/examples.ts";
import { parseNetwork } from "../../../src/config/networks.ts";
import { ROUTES } from "../../../src/http/server/routes.ts";
import catalogue from "../../../deploy/catalogue.example.csv" with { type: "text" };
import { document, expectEventDocumented, operations } from "../../support/http/openapi.ts";
import type { Body } from "../../support/http/api.ts";
import { openService, type TestService } from "../../support/worlds/service.ts";
import { OPERATOR } from "../../support/databases/test-database.ts";
import { ENGINE } from "../../support/databases/engine.ts";
import { type Receiver, startReceiver } from "../../support/peers/webhook-receiver.ts";

let service: TestService;
let key: string;
let testKey: string;
let receiver: Receiver;

const SHOP_URL = "https://shop.example/hooks";

/** The services that the examples show. */
const SHOWN = ["instagram-followers", "instagram-likes", "youtube-watch-hours"];
/** In the order of the examples' story. */
const STORY = [
  "listServices",
  "listServiceChanges",
  "placeOrder",
  "placeOrders",
  "listOrders",
  "getOrder",
  "getBalance",
  "listTransactions",
  "getUser",
  "recharge",
  "createWebhook",
  "listWebhooks",
  "getWebhook",
  "updateWebhook",
  "testWebhook",
  "listDeliveries",
  "replayWebhook",
  "rotateWebhook",
  "deleteWebhook",
  "cancelOrder",
  "listOrderRequests",
  "refillOrder",
  "moveTestOrder",
  "sendTestEvent",
];

beforeAll(async () => {
  receiver = await startReceiver(
    "HTTP/1.1 503 Unavailable\r\nContent-Length: 15\r\n\r\ncome back later",
  );
  actualIds.set(SHOP_URL, `http://127.0.0.1:${receiver.port}/hooks`);
  const loopback = parseNetwork("127.0.0.0/8")!;
  service = await openService({ settings: { webhookAllow: [loopback], webhookAllowHttp: true } });
  service.run("createUser", { username: "demo", name: "Demo", parent: null });
  service.run("creditUser", {
    username: "demo",
    amountMicros: 100_000_000,
    note: null,
    publicNote: "quickstart",
    actor: OPERATOR,
  });
  key = service.key("demo", "full").text;
  const services = parseCatalogue(catalogue).filter(({ id }) => SHOWN.includes(id!));
  service.run("importServices", { services });
  service.run("updateService", { id: SHOWN[0]!, changes: { dripfeed: true } });
  const comments = {
    id: "instagram-comments",
    name: "Instagram Comments",
    type: "custom_comments",
  } as const;
  service.service({ ...comments, price: "8", min: 1, max: 1500 });
});

afterAll(async () => {
  await service.stop();
  await receiver.stop();
});

/** Ids, times and request ids differ from run to run; that they have the right form is the schema's part. */
function masked(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value)
      .replaceAll(actualIds.get(SHOP_URL)!, SHOP_URL)
      .replaceAll(/"durationMs":\d+/g, '"durationMs":0')
      .replaceAll(/"[a-z0-9]{24}"/g, '"an id"')
      .replaceAll(/"evt_[a-z0-9]{24}(\.1)?"/g, '"an event"')
      .replaceAll(/"whsec_[^"]*"/g, '"a secret"')
      .replaceAll(/"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"/g, '"a time"'),
  );
}

/** On PostgreSQL a refused order may leave a gap, and the examples count the orders that there are. */
function closeGap(): void {
  if (ENGINE === "sqlite") return;
  const orders = service.query("SELECT order_id FROM orders").length;
  service.query(`SELECT setval('orders_number', ${Math.max(1, orders)}, ${orders > 0})`);
}

/** What the database has for the ids and the address of the examples. */
const actualIds = new Map<string, string>();

/** The request with the ids that there are. */
function withActualIds(request: ExampleRequest): ExampleRequest {
  let text = JSON.stringify(request);
  for (const [shown, actual] of actualIds) text = text.replaceAll(shown, actual);
  return JSON.parse(text) as ExampleRequest;
}

/** The attempt that listDeliveries shows: what is asked for next sees it. */
async function deliverTestWebhook(): Promise<void> {
  const id = actualIds.get(WEBHOOK_ID)!;
  for (;;) {
    const { body } = await service.call("GET", `/webhooks/${id}/deliveries`, key);
    const [delivery] = body.deliveries;
    if (delivery) return void actualIds.set(EVENT_ID, delivery.eventId);
    await Bun.sleep(5);
  }
}

function pathOf(path: string, { parameters = {} }: ExampleRequest): string {
  const written = path.replace(/\{(\w+)\}/g, (_, name: string) => parameters[name]!);
  const query = Object.entries(parameters).filter(([name]) => !path.includes(`{${name}}`));
  return query.length === 0 ? written : `${written}?${new URLSearchParams(query).toString()}`;
}

/** The examples that say which request leads to them. */
function storyOf(operationId: string) {
  const { method, path, operation } = operations().find(
    (each) => each.operation.operationId === operationId,
  )!;
  return Object.entries(operation.responses).flatMap(([status, { content }]) =>
    Object.entries(content["application/json"]!.examples ?? {})
      .filter(([, example]) => example["x-request"] !== undefined)
      .map(([name, example]) => ({ method, path, status: Number(status), name, example })),
  );
}

test.each(["/docs", "/docs/panels", "/openapi.json"])(
  "GET %s repeats the request id and sends nosniff",
  async (path) => {
    const { status, headers } = await fetch(service.url + path, {
      headers: { "x-request-id": "mine" },
    });
    expect([status, headers.get("x-request-id")]).toEqual([200, "mine"]);
    expect(headers.get("x-content-type-options")).toBe("nosniff");
  },
);

test("GET / redirects to the documentation", async () => {
  const response = await fetch(`${service.url}/`, { redirect: "manual" });
  expect([response.status, response.headers.get("location")]).toEqual([302, "/docs"]);
});

interface SharedDocument extends OpenApiDocument {
  components: OpenApiDocument["components"] & { responses: Record<string, OpenApiResponse> };
}

function operationsOf({ paths, webhooks }: OpenApiDocument): OpenApiOperation[] {
  const items = [...Object.values(paths), ...Object.values(webhooks)];
  return items.flatMap((methods) => Object.values(methods));
}

/** Every reference to a response replaced by the response. */
function withErrors({ components: { responses, ...components }, ...rest }: SharedDocument) {
  const prefix = '{"$ref":"#/components/responses/';
  const text = JSON.stringify({ ...rest, components });
  return JSON.parse(
    text
      .split(prefix)
      .map((part, place) => {
        if (place === 0) return part;
        const end = part.indexOf('"}');
        return JSON.stringify(responses[part.slice(0, end)]) + part.slice(end + 2);
      })
      .join(""),
  ) as unknown;
}

describe("the document", () => {
  test("is returned by GET /openapi.json, without a key", async () => {
    const response = await fetch(`${service.url}/openapi.json`);
    expect(response.headers.get("content-type")).toBe("application/json");
    const published = (await response.json()) as SharedDocument;
    expect(withErrors(published)).toEqual(JSON.parse(JSON.stringify(document)));
    expect(document.openapi).toStartWith("3.1.");
  });

  test("holds each error response once, under components/responses", async () => {
    const published = (await (await fetch(`${service.url}/openapi.json`)).json()) as SharedDocument;
    const { responses } = published.components;
    for (const { operationId, responses: own } of operationsOf(published)) {
      for (const [status, response] of Object.entries(own)) {
        const isShared = "$ref" in response;
        expect([operationId, status, isShared]).toEqual([
          operationId,
          status,
          status !== "200" && status !== "2XX",
        ]);
      }
    }
    expect(Object.keys(responses)).toContain("Error401");
    const texts = Object.entries(responses).map(
      ([name, each]) => name.slice(-3) + JSON.stringify(each),
    );
    expect(new Set(texts).size).toBe(texts.length);
  });

  test("has an example of every parameter and of every member of a body", () => {
    const lacking: string[] = [];
    const seen = new Set<object>();
    const look = (schema: Schema | undefined, path: string) => {
      if (schema === undefined || seen.has(schema)) return;
      seen.add(schema);
      const { properties, items, additionalProperties } = schema as Record<string, Schema>;
      for (const [name, property] of Object.entries((properties ?? {}) as Record<string, Schema>)) {
        const { $ref, examples, const: only, enum: words, type } = property;
        const isPlain = $ref === undefined && type !== "object";
        if (isPlain && (examples ?? only ?? words) === undefined) lacking.push(`${path}.${name}`);
        look(property, `${path}.${name}`);
      }
      for (const word of ["anyOf", "oneOf", "allOf"]) {
        for (const each of (schema[word] ?? []) as Schema[]) look(each, path);
      }
      look(items, `${path}[]`);
      if (typeof additionalProperties === "object") look(additionalProperties, `${path}{}`);
    };
    for (const [name, schema] of Object.entries(document.components.schemas)) look(schema, name);
    for (const { operationId, parameters, requestBody, responses } of operationsOf(document)) {
      for (const { name, example, examples } of parameters) {
        if ((example ?? examples) === undefined) lacking.push(`${operationId} ?${name}`);
      }
      for (const each of [requestBody, ...Object.values(responses)]) {
        for (const { schema } of Object.values(each?.content ?? {})) look(schema, operationId);
      }
    }
    expect(lacking).toEqual([]);
  });

  test("and the pages name the operator and its contact, once the settings do", () => {
    const contacts = [
      ["help@shop.example", "mailto:help@shop.example", { email: "help@shop.example" }],
      [
        "https://shop.example/help",
        "https://shop.example/help",
        { url: "https://shop.example/help" },
      ],
    ] as const;
    for (const [contact, link, member] of contacts) {
      const brand = "<b>Shop & Sons</b>";
      const named = createDocument({ brand, contact });
      expect(named.info.contact).toEqual({ name: brand, ...member });
      for (const { html } of [renderPage(named), renderSmmApiPage(named)]) {
        expect(html).toContain("<h1>&lt;b>Shop &amp; Sons&lt;/b> API");
        expect(html).toContain(`<a href="${link}" rel="noreferrer">${contact}</a>`);
      }
    }
    expect(document.info.title).toBe("Reseller Ordering API");
    expect(renderPage(document).html).not.toContain("Questions:");
  });

  test("has every route, and no other", () => {
    const described = operations().map(({ method, path }) => `${method} /api/v1${path}`);
    const routed = ROUTES.map(([method, path]) => `${method} ${path.replace(/:(\w+)/g, "{$1}")}`);
    expect(described.toSorted()).toEqual(routed.toSorted());
  });

  test("names each operation once, and the examples use each", () => {
    const ids = operations().map(({ operation }) => operation.operationId);
    expect(ids.toSorted()).toEqual(STORY.toSorted());
  });

  test("describes every field with its meaning, and amounts with their unit", () => {
    for (const [name, schema] of Object.entries(document.components.schemas)) {
      const properties = (schema["properties"] ?? {}) as Record<string, Record<string, unknown>>;
      for (const [field, property] of Object.entries(properties)) {
        const described = property["description"] ?? property["$ref"] ?? property["const"];
        expect([name, field, described !== undefined]).toEqual([name, field, true]);
        if (property["type"] !== "number") continue;
        expect([name, field, property["description"]]).toEqual([
          name,
          field,
          expect.stringMatching(/in USD/i),
        ]);
      }
    }
  });
});

test("every event is described, with an example that its schema allows", () => {
  const events = document.webhooks as Record<string, { post: OpenApiOperation }>;
  expect(Object.keys(events)).toEqual([...WEBHOOK_EVENT_TYPES]);
  for (const [type, { post }] of Object.entries(events)) {
    const { examples } = post.requestBody!.content["application/json"]!;
    const body = examples!["event"]!.value as { type: string };
    expect(body.type).toBe(type);
    expectEventDocumented(body);
  }
});

describe("every example matches the server's response", () => {
  for (const operationId of STORY) {
    test(operationId, async () => {
      const story = storyOf(operationId);
      expect(story.length).toBeGreaterThan(0);
      if (operationId === "moveTestOrder") await placeTestOrder();
      for (const { method, path, status, name, example } of story) {
        if (name === "balance_too_large") enrich();
        closeGap();
        if (name === "deliveries") await deliverTestWebhook();
        if (operationId === "refillOrder" && name === "request") complete("1");
        const request = withActualIds(example["x-request"]!);
        const headers = { "x-request-id": REQUEST_ID };
        const answer = await service.call(
          method,
          pathOf(path, request),
          keyFor(path),
          request.body,
          headers,
        );
        if (operationId === "createWebhook" && answer.status === 200) {
          actualIds.set(WEBHOOK_ID, answer.body.webhook.id);
        }
        expect([name, answer.status, masked(answer.body)]).toEqual([
          name,
          status,
          masked(example.value),
        ]);
      }
    });
  }

  const keyFor = (path: string) => (path.startsWith("/test/") ? testKey : key);

  async function placeTestOrder(): Promise<void> {
    // Not before: its money is a transfer, and the examples of the live side are numbered.
    testKey = service.key("demo", "full", "all", true).text;
    closeGap();
    const order = { service: SHOWN[0], link: "https://test.invalid/pending", quantity: 1000 };
    expect((await service.call("POST", "/orders", testKey, order)).status).toBe(200);
  }

  /** What was delivered alone can be refilled. */
  function complete(id: string): void {
    service.run("transitionOrder", { id, to: "COMPLETED", note: null, actor: OPERATOR });
  }

  /** The one example that needs more money than the story has. */
  function enrich(): void {
    service.user("rich");
    for (let credit = 0; credit < 9; credit++) {
      const amountMicros = 999_000_000_000_000;
      service.run("creditUser", { username: "rich", amountMicros, note: null, actor: OPERATOR });
    }
  }

  test("each CSV example has a header line and a row", async () => {
    const withCsv = operations().filter(
      ({ operation }) => operation.responses["200"]?.content["text/csv"],
    );
    expect(withCsv.map(({ path }) => path).sort()).toEqual(["/orders", "/transactions"]);
    for (const { path, operation } of withCsv) {
      const [example] = Object.values(operation.responses["200"]!.content["text/csv"]!.examples!);
      const response = await fetch(`${service.url}/api/v1${path}?to=2000-01-01`, {
        headers: { "x-api-key": key, accept: "text/csv" },
      });
      const header = await response.text();
      const [first, row] = String(example!.value).split("\r\n");
      expect(`${first}\r\n`).toBe(header);
      expect(row!.split(",").length).toBe(first!.split(",").length);
    }
  });
});

describe("the errors that every operation shares are in the document as the server returns them", () => {
  const sample = (path: string) => path.replace("{id}", "1");

  test.each([
    ["without a key", () => null],
    ["with an unknown key", () => "rk_unknown"],
    ["with an inactive key", inactiveKey],
  ])("%s", async (_, keyOf) => {
    for (const { method, path, operation } of operations()) {
      const answer = await service.call(method, sample(path), keyOf());
      expect(documentedErrors(operation.responses[String(answer.status)]!.content)).toContainEqual(
        errorOf(answer.body),
      );
    }
  });

  test("with a key of the wrong type", async () => {
    const keys = {
      order: service.key("demo", "order").text,
      recharge: service.key("demo", "recharge").text,
    };
    const test = service.key("demo", "recharge", "all", true).text;
    for (const { method, path, operation } of operations()) {
      const type = /user|recharge/.test(path) ? "order" : "recharge";
      const wrong = path.startsWith("/test/") ? test : keys[type];
      const answer = await service.call(method, sample(path), wrong);
      expect(documentedErrors(operation.responses["403"]!.content)).toContainEqual(
        errorOf(answer.body),
      );
    }
  });

  function inactiveKey(): string {
    const { text, id } = service.key("demo", "full");
    service.run("setKeyActive", { id, active: false });
    return text;
  }

  function errorOf({ code, message }: Body): object {
    return { code, message };
  }

  function documentedErrors(
    content: Record<string, { examples?: Record<string, DocumentExample> }>,
  ): object[] {
    const examples = Object.values(content["application/json"]!.examples!);
    return examples.map(({ value }) => errorOf(value));
  }
});
