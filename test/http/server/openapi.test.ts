// The OpenAPI document describes what the server does: every route, every example, every error that all routes share.
// callApi checks every other response of the test suite against it.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type {
  DocumentExample,
  OpenApiDocument,
  OpenApiOperation,
  OpenApiResponse,
} from "../../../src/api-docs/schemas/document.ts";
import type { Schema } from "../../../src/api-docs/schemas/operation.ts";
import { pagesOf } from "../../../src/api-docs/page/pages.tsx";
import { createDocument } from "../../../src/http/server/openapi.ts";
import { WEBHOOK_EVENT_TYPES } from "../../../src/domain/webhooks/webhook-events.ts";
import { REQUEST_ID } from "../../../src/api-docs/schemas/examples.ts";
import { ROUTES } from "../../../src/http/server/routes.ts";
import { document, expectEventDocumented, operations } from "../../support/http/openapi.ts";
import type { Body } from "../../support/http/api.ts";
import { type ExampleWorld, openExamples, pathOf, STORY } from "../../support/worlds/examples.ts";
import type { TestService } from "../../support/worlds/service.ts";

let world: ExampleWorld;
let service: TestService;
let key: string;

beforeAll(async () => {
  world = await openExamples();
  ({ service, key } = world);
});

afterAll(() => world.stop());

test.each([
  "/docs",
  "/docs/panels",
  "/docs/%70anels?from=here",
  "/docs/reference/place-order",
  "/openapi.json",
])("GET %s repeats the request id and sends nosniff", async (path) => {
  const { status, headers } = await fetch(service.url + path, {
    headers: { "x-request-id": "mine" },
  });
  expect([status, headers.get("x-request-id")]).toEqual([200, "mine"]);
  expect(headers.get("x-content-type-options")).toBe("nosniff");
});

describe("a browser that has the documentation already", () => {
  test.each(["/docs", "/docs/reference", "/openapi.json"])("gets a 304 for %s", async (path) => {
    const first = await fetch(service.url + path);
    const etag = first.headers.get("etag")!;
    expect([first.headers.get("cache-control"), etag]).toEqual([
      "no-cache",
      expect.stringMatching(/^"[0-9a-f]{32}"$/),
    ]);
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`]) {
      const again = await fetch(service.url + path, { headers: { "if-none-match": known } });
      const { status, headers } = again;
      expect([known, status, headers.get("etag"), headers.get("content-length")]).toEqual([
        known,
        304,
        etag,
        null,
      ]);
      expect(await again.text()).toBe("");
    }
    const other = await fetch(service.url + path, { headers: { "if-none-match": '"other"' } });
    expect([other.status, await other.text()]).toEqual([200, await first.text()]);
  });

  test("does not ask again for the stylesheet and the script", async () => {
    const html = await (await fetch(`${service.url}/docs`)).text();
    const assets = [...html.matchAll(/"(\/docs\/assets\/[^"]+)"/g)].map(([, path]) => path!);
    expect(assets).toHaveLength(2);
    for (const path of assets) {
      const { status, headers } = await fetch(service.url + path);
      expect([status, headers.get("cache-control"), headers.get("x-content-type-options")]).toEqual(
        [200, "public, max-age=31536000, immutable", "nosniff"],
      );
    }
  });

  test.each([
    "/docs/none",
    "/docs/%zz",
    "/docs/reference/none",
    "/docs/reference/recharge",
    "/docs/assets/0000000000000000/docs.css",
  ])("gets a 404 for %s", async (path) => {
    const response = await fetch(service.url + path);
    expect([response.status, ((await response.json()) as Body).code]).toEqual([404, "not_found"]);
  });
});

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
      for (const render of pagesOf(named).values()) {
        const html = render();
        expect(html).toContain('<a class="brand" href="/docs">&lt;b>Shop &amp; Sons&lt;/b> API');
        expect(html).toContain(`<a href="${link}" rel="noreferrer">${contact}</a>`);
      }
    }
    expect(document.info.title).toBe("Reseller Ordering API");
    expect(pagesOf(document).get("/docs")!()).not.toContain("Questions:");
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
    test(operationId, () =>
      world.replay(operationId, ({ method, path, request, key: ownKey }) =>
        service.call(method, pathOf(path, request), ownKey, request.body, {
          "x-request-id": REQUEST_ID,
        }),
      ),
    );
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
