// GET /openapi.json and GET /docs: public, generated at the first request and cached.

import { renderPage } from "../api-docs/page.ts";
import { withText } from "../http1/response.ts";
import { createDocument } from "./openapi.ts";

type Page = () => Response;

/** Revalidated at every visit: a newer server may document more. */
const CACHING = { "cache-control": "no-cache", "x-content-type-options": "nosniff" };

/** Path and handler. */
export function documentationRoutes(): [path: string, page: Page][] {
  const document = once(createDocument);
  const json = once(() => JSON.stringify(document()));
  const page = once(() => renderPage(document()));
  const respond = (text: string, headers: Record<string, string>) =>
    withText(new Response(text, { headers: { ...CACHING, ...headers } }), text);
  return [
    ["/openapi.json", () => respond(json(), { "content-type": "application/json" })],
    [
      "/docs",
      () =>
        respond(page().html, {
          "content-type": "text/html; charset=utf-8",
          "content-security-policy": page().policy,
          "referrer-policy": "no-referrer",
        }),
    ],
  ];
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
