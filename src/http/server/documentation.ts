// GET /openapi.json, GET /docs and GET /docs/panels: public, generated at the first request and cached. GET / redirects
// to GET /docs.

import type { OpenApiDocument } from "../../api-docs/schemas/document.ts";
import { shareErrors } from "../../api-docs/schemas/shared-errors.ts";
import { type Page, renderPage, renderSmmApiPage } from "../../api-docs/page/page.tsx";
import { withText } from "../../http1/response.ts";
import { createDocument, type Operator } from "./openapi.ts";

/** Revalidates at every visit, because a newer server may document more. */
const CACHING = { "cache-control": "no-cache", "x-content-type-options": "nosniff" };

export interface DocumentationDeps {
  operator: Operator;
}

/** Returns the documentation pages, each as path and handler. */
export function documentationRoutes({
  operator,
}: DocumentationDeps): [path: string, respond: () => Response][] {
  const document = once(() => createDocument(operator));
  const json = once(() => JSON.stringify(shareErrors(document())));
  const respond = (text: string, headers: Record<string, string>) =>
    withText(new Response(text, { headers: { ...CACHING, ...headers } }), text);
  const pageOf = (render: (document: OpenApiDocument) => Page) => {
    const page = once(() => render(document()));
    return () =>
      respond(page().html, {
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": page().policy,
        "referrer-policy": "no-referrer",
      });
  };
  return [
    ["/", () => new Response(null, { status: 302, headers: { location: "/docs" } })],
    ["/openapi.json", () => respond(json(), { "content-type": "application/json" })],
    ["/docs", pageOf(renderPage)],
    ["/docs/panels", pageOf(renderSmmApiPage)],
  ];
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
