// The documentation pages as HTML: their size, their links, and what they show to whom.

import { describe, expect, test } from "bun:test";
import {
  customerEndpointsOf,
  PAYMENT_PATH,
} from "../../../src/api-docs/page/documented-endpoints.ts";
import { pagesOf } from "../../../src/api-docs/page/pages.tsx";
import { document } from "../../support/http/openapi.ts";

const PAGES = new Map([...pagesOf(document)].map(([path, render]) => [path, render()]));
const SIZE_LIMIT_BYTES = 40 * 1024;

const matches = (html: string, pattern: RegExp) => [...html.matchAll(pattern)].map(([, at]) => at!);
const idsOf = (html: string) => matches(html, /\bid="([^"]+)"/g);

describe.each([...PAGES])("%s", (path, html) => {
  test("is small", () => {
    expect(Buffer.byteLength(html)).toBeLessThanOrEqual(SIZE_LIMIT_BYTES);
  });

  test("has each id once", () => {
    const ids = idsOf(html);
    expect(ids.filter((id, place) => ids.indexOf(id) !== place)).toEqual([]);
  });

  test("shows no mark of the text's own form", () => {
    const shown = html.replace(/<pre[^]*?<\/pre>|<[^>]+>/g, "");
    expect(/`.{0,40}|\]\(.{0,40}/.exec(shown)?.[0]).toBeUndefined();
  });

  test("has only links that lead somewhere, and loads only from this server", () => {
    const lost = matches(html, /\bhref="([^"]+)"/g).filter((href) => {
      if (/^(data:,|\/openapi\.json|\/docs\/assets\/.*)$/.test(href)) return false;
      const [target = "", anchor] = href.split("#");
      const page = PAGES.get(target === "" ? path : target);
      return page === undefined || (anchor !== undefined && !idsOf(page).includes(anchor));
    });
    expect(lost).toEqual([]);
    expect(html).not.toMatch(/(?:src|href|action)="(?:https?:)?\/\//);
    expect(html).not.toMatch(/<style|<script(?! src)| style=| on\w+=/);
  });
});

test("every call has a page, which names every field of its body and its answer, and the index names both", () => {
  const index = PAGES.get("/docs/reference")!;
  for (const { url, operation, path } of customerEndpointsOf(document)) {
    const html = PAGES.get(url)!;
    expect(html).toContain(`<h1>${operation.summary}</h1>`);
    expect(html).toContain(path);
    for (const { name } of operation.parameters) {
      if (name !== "x-request-id") expect(html).toContain(`id="${operation.operationId}.${name}"`);
    }
    for (const [, anchor, name] of html.matchAll(/<code id="([^"]+)">([^<]+)</g)) {
      const [last] = name!.split(".").slice(-1);
      expect([anchor, index.includes(`>${last!.replace("[]", "")}</a>`)]).toEqual([anchor, true]);
    }
    expect(index).toContain(`href="${url}"`);
  }
});

test("what only payment programs use is on their page, and on no page of a customer", () => {
  const words = /\/recharge|Recharge Key|childBalance|\breach\b|resellerId|look up/i;
  expect(PAGES.get(PAYMENT_PATH)).toMatch(words);
  for (const [path, html] of PAGES) {
    if (path === PAYMENT_PATH) continue;
    // The index ends with a short list for them.
    const [shown] = html.split('<section class="aside">');
    expect([path, words.exec(shown!)?.[0] ?? null]).toEqual([path, null]);
    if (path !== "/docs/reference") expect(html).not.toContain(PAYMENT_PATH);
  }
});

test("the anchors of the time when there was one page are in the index or on the first page", () => {
  const old = [
    ..."quick-start keys amounts types idempotency lists states errors".split(" "),
    ..."receiving-webhooks test-keys samples services orders balance users".split(" "),
    ..."webhooks testing getUser recharge".split(" "),
    ...customerEndpointsOf(document).map(({ operation }) => operation.operationId),
  ];
  const known = new Set([...idsOf(PAGES.get("/docs")!), ...idsOf(PAGES.get("/docs/reference")!)]);
  expect(old.filter((id) => !known.has(id))).toEqual([]);
});

test("each example that takes an Idempotency-Key makes a new one, and none holds an API key", () => {
  for (const [path, html] of PAGES) {
    const examples = matches(html, /<pre[^>]*><code>(.*?)<\/code>/gs).map((code) =>
      code.replace(/<[^>]+>/g, ""),
    );
    for (const code of examples.filter((text) => text.includes("Idempotency-Key"))) {
      const isFresh = /\/dev\/urandom|randomUUID\(\)|uuid4\(\)|random_bytes\(16\)/.test(code);
      expect([path, code, isFresh]).toEqual([path, code, true]);
    }
    for (const code of examples) expect(code).not.toMatch(/\brk_(test_)?[0-9A-Za-z]{8}/);
  }
});
