// GET /openapi.json, GET /docs and GET /docs/panels: public, generated at the first request and cached. GET / redirects
// to GET /docs. What generates them is loaded at the first request too.

import type { OpenApiDocument } from "../../api-docs/schemas/document.ts";
import type { Page } from "../../api-docs/page/page.tsx";
import { withText } from "../../http1/response.ts";
import type { Operator } from "./openapi.ts";

/** Revalidates at every visit, because a newer server may document more. */
const CACHING = { "cache-control": "no-cache", "x-content-type-options": "nosniff" };

export interface DocumentationDeps {
  operator: Operator;
}

/** Returns the documentation pages, each as path and handler. */
export function documentationRoutes({
  operator,
}: DocumentationDeps): [path: string, respond: () => Promise<Response>][] {
  const document = once(async () => (await import("./openapi.ts")).createDocument(operator));
  const json = once(async () => {
    const { shareErrors } = await import("../../api-docs/schemas/shared-errors.ts");
    return JSON.stringify(shareErrors(await document()));
  });
  const respond = (text: string, headers: Record<string, string>) =>
    withText(new Response(text, { headers: { ...CACHING, ...headers } }), text);
  const pageOf = (load: () => Promise<(document: OpenApiDocument) => Page>) => {
    const page = once(async () => (await load())(await document()));
    return async () => {
      const { html, policy } = await page();
      return respond(html, {
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": policy,
        "referrer-policy": "no-referrer",
      });
    };
  };
  const pages = () => import("../../api-docs/page/page.tsx");
  return [
    ["/", async () => new Response(null, { status: 302, headers: { location: "/docs" } })],
    ["/openapi.json", async () => respond(await json(), { "content-type": "application/json" })],
    ["/docs", pageOf(async () => (await pages()).renderPage)],
    ["/docs/panels", pageOf(async () => (await pages()).renderSmmApiPage)],
  ];
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
