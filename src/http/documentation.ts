// GET /openapi.json, GET /docs and GET /docs/panels: public, generated at the first request and cached.

import type { OpenApiDocument } from "../api-docs/document.ts";
import { type Page, renderPage, renderPanelsPage } from "../api-docs/page.ts";
import { withText } from "../http1/response.ts";
import { createDocument } from "./openapi.ts";

/** Revalidated at every visit: a newer server may document more. */
const CACHING = { "cache-control": "no-cache", "x-content-type-options": "nosniff" };

/** Path and handler. */
export function documentationRoutes(): [path: string, respond: () => Response][] {
  const document = once(createDocument);
  const json = once(() => JSON.stringify(document()));
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
    ["/openapi.json", () => respond(json(), { "content-type": "application/json" })],
    ["/docs", pageOf(renderPage)],
    ["/docs/panels", pageOf(renderPanelsPage)],
  ];
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
