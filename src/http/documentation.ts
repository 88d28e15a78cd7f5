// GET /openapi.json and GET /docs: open to anyone, made at the first request and kept.

import { renderPage } from "../docs/page.ts";
import { createDocument } from "./openapi.ts";

type Page = () => Response;

/** Asked for again at every visit, since a newer server may say more. */
const CACHING = { "cache-control": "no-cache", "x-content-type-options": "nosniff" };

/** Path and handler. */
export function documentationRoutes(): [path: string, page: Page][] {
  const document = once(createDocument);
  const json = once(() => JSON.stringify(document()));
  const page = once(() => renderPage(document()));
  return [
    [
      "/openapi.json",
      () => new Response(json(), { headers: { ...CACHING, "content-type": "application/json" } }),
    ],
    [
      "/docs",
      () =>
        new Response(page().html, {
          headers: {
            ...CACHING,
            "content-type": "text/html; charset=utf-8",
            "content-security-policy": page().policy,
            "referrer-policy": "no-referrer",
          },
        }),
    ],
  ];
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
