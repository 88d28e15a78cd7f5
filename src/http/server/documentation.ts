// GET /openapi.json and the documentation pages below GET /docs: public, generated at the first request and cached. GET /
// redirects to GET /docs. What generates them is loaded at the first request too.

import { withText } from "../../http1/response.ts";
import type { IncomingRequest } from "../../http1/request.ts";
import type { PageHandler } from "./endpoint.ts";
import type { Operator } from "./openapi.ts";

/** Revalidates at every visit, because a newer server may document more. */
const CACHING = { "cache-control": "no-cache", "x-content-type-options": "nosniff" };
const IMMUTABLE = { ...CACHING, "cache-control": "public, max-age=31536000, immutable" };

const PAGE_HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": [
    "default-src 'none'",
    "style-src 'self'",
    "script-src 'self'",
    "connect-src 'self'",
    "img-src data:",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join("; "),
  "referrer-policy": "no-referrer",
};

export interface DocumentationDeps {
  operator: Operator;
}

/** Returns the documentation pages, each as path and handler. */
export function documentationRoutes({
  operator,
}: DocumentationDeps): [path: string, respond: PageHandler][] {
  const document = once(async () => (await import("./openapi.ts")).createDocument(operator));
  const json = once(async () => {
    const { shareErrors } = await import("../../api-docs/schemas/shared-errors.ts");
    return tagged(JSON.stringify(shareErrors(await document())));
  });
  const pages = once(async () => {
    const { pagesOf } = await import("../../api-docs/page/pages.tsx");
    const entries = [...pagesOf(await document())];
    return new Map(entries.map(([path, render]) => [path, once(() => tagged(render()))]));
  });
  const respondPage: PageHandler = async ({ request }) => {
    const page = (await pages()).get(pathOf(request));
    return page === undefined ? null : revalidated(request, page(), PAGE_HEADERS);
  };
  return [
    ["/", async () => new Response(null, { status: 302, headers: { location: "/docs" } })],
    [
      "/openapi.json",
      async ({ request }) =>
        revalidated(request, await json(), { "content-type": "application/json" }),
    ],
    ["/docs", respondPage],
    ["/docs/:page", respondPage],
    ["/docs/reference/:call", respondPage],
    ["/docs/assets/:hash/:name", respondAsset],
  ];
}

const respondAsset: PageHandler = async ({ request }) => {
  const { ASSETS } = await import("../../api-docs/page/assets.ts");
  const asset = ASSETS.get(pathOf(request));
  if (asset === undefined) return null;
  const headers = { ...IMMUTABLE, "content-type": asset.type };
  return withText(new Response(asset.text, { headers }), asset.text);
};

/** Returns the path, decoded once. One that cannot be decoded stays as it is, and has no page. */
function pathOf({ path }: IncomingRequest): string {
  const [encoded] = path.split("?");
  try {
    return decodeURIComponent(encoded!);
  } catch {
    return encoded!;
  }
}

interface Tagged {
  text: string;
  etag: string;
}

function tagged(text: string): Tagged {
  const hash = new Bun.CryptoHasher("sha256").update(text).digest("hex").slice(0, 32);
  return { text, etag: `"${hash}"` };
}

/** Responds with the text; with a 304 if the caller has it already. */
function revalidated(
  request: IncomingRequest,
  { text, etag }: Tagged,
  fields: Record<string, string>,
): Response {
  const headers = { ...CACHING, ...fields, etag };
  // A cache in between may have weakened the tag.
  const known = request.headers.get("if-none-match")?.split(/\s*,\s*/) ?? [];
  if (known.some((tag) => tag.replace(/^W\//, "") === etag)) {
    return new Response(null, { status: 304, headers });
  }
  return withText(new Response(text, { headers }), text);
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
