// What the OpenAPI document and the page for owners of panels say of /api/v2 is what the server does.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { SMM_API_EXAMPLES } from "../../../src/api-docs/endpoints/smm-api.ts";
import { entryOf, Refusal, REFUSALS, textOf } from "../../../src/domain/values/error-table.ts";
import { pagesOf } from "../../../src/api-docs/page/pages.tsx";
import { REFILL_NOT_FOUND } from "../../../src/http/smm-api/errors.ts";
import { document } from "../../support/http/openapi.ts";
import { smmClientOf } from "../../support/http/smm-client.ts";
import { openService, type TestService } from "../../support/worlds/service.ts";

let service: TestService;

beforeAll(async () => {
  service = await openService();
  service.user("demo", "100");
  service.service({ id: "f", name: "Instagram Followers", price: "2.32", min: 50, max: 10_000 });
  const comments = { id: "c", name: "Instagram Comments", type: "custom_comments" } as const;
  service.service({ ...comments, price: "8", min: 1, max: 1500 });
});

afterAll(() => service.stop());

test("every example is the server's response", async () => {
  const panel = smmClientOf(service.url, service.key("demo", "order").text);
  for (const { name, fields, response } of SMM_API_EXAMPLES) {
    const { action, ...others } = fields;
    const answer = await panel(action!, others);
    expect([name, answer.status, answer.body]).toEqual([name, 200, response]);
  }
});

test("every word of an error or a status is on the page, and in the specification", async () => {
  const specification = await Bun.file(
    new URL("../../../docs/specification/smm-api.md", import.meta.url),
  ).text();
  const page = pagesOf(document).get("/docs/panels")!();
  const words = Object.entries(REFUSALS).flatMap(([code, { smmApi }]) => {
    if (smmApi === undefined) return [];
    if (typeof smmApi === "string") return [smmApi];
    const fields = ["link", "quantity", "service"].map((field) => ({ field, must: "" }));
    return fields.map((details) =>
      textOf(entryOf(new Refusal(code as "field_invalid", details)).smmApi!, details),
    );
  });
  expect(words.length).toBeGreaterThan(8);
  for (const word of [...words, REFILL_NOT_FOUND, "Pending", "In progress", "Canceled"]) {
    expect([word, page.includes(`<code>${word}</code>`), specification.includes(word)]).toEqual([
      word,
      true,
      true,
    ]);
  }
});

test("GET /docs/panels is a page that loads nothing from elsewhere, and /docs leads to it", async () => {
  const page = await fetch(`${service.url}/docs/panels`);
  expect(page.status).toBe(200);
  expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
  const text = await page.text();
  expect([...text.matchAll(/\bid="(connect|fields|actions|statuses|key)"/g)]).toHaveLength(5);
  expect(text).not.toMatch(/(?:src|href)="https?:/);
  expect(await (await fetch(`${service.url}/docs`)).text()).toContain('href="/docs/panels"');
  expect(Object.keys(document.paths)).toContain("/api/v2");
});
