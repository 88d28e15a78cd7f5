// The documentation pages: the guide, the reference with a page for each endpoint, and a page for payment programs. They are
// made from the OpenAPI document.

/** @jsxImportSource preact */

import type { VNode } from "preact";
import { renderToString } from "preact-render-to-string";
import { ERRORS } from "../guide/errors.tsx";
import type { GuidePage } from "../guide/guide.ts";
import { LIMITS_PAGE } from "../guide/limits.tsx";
import { ORDERS } from "../guide/orders.tsx";
import { PANELS } from "../guide/panels.tsx";
import { PAYMENTS } from "../guide/payments.tsx";
import { SAMPLES } from "../guide/samples.tsx";
import { START } from "../guide/start.tsx";
import { TESTING } from "../guide/testing.tsx";
import { WEBHOOKS } from "../guide/webhooks.tsx";
import type { OpenApiDocument } from "../schemas/document.ts";
import { EndpointArticle } from "./endpoint.tsx";
import { customerEndpointsOf, type Endpoint, REFERENCE_PATH } from "./documented-endpoints.ts";
import { ReferenceIndex } from "./reference.tsx";
import { type Frame, Layout } from "./layout.tsx";

/** The pages of the guide that the contents list. */
const GUIDE: readonly GuidePage[] = [
  START,
  ORDERS,
  ERRORS,
  LIMITS_PAGE,
  WEBHOOKS,
  TESTING,
  PANELS,
  SAMPLES,
];

/** Returns what renders each page, by path. */
export function pagesOf(document: OpenApiDocument): ReadonlyMap<string, () => string> {
  const endpoints = customerEndpointsOf(document);
  const frame = { document, guide: GUIDE, endpoints };
  const pages: [path: string, page: () => VNode][] = [
    ...[...GUIDE, PAYMENTS].map((page): (typeof pages)[number] => [
      page.path,
      () => guidePage(frame, page),
    ]),
    [REFERENCE_PATH, () => indexPage(frame)],
    ...endpoints.map((endpoint): (typeof pages)[number] => [
      endpoint.url,
      () => endpointPage(frame, endpoint),
    ]),
  ];
  return new Map(
    pages.map(([path, page]) => [path, () => `<!doctype html>${renderToString(page())}`]),
  );
}

function guidePage(frame: Frame, { path, title, lead, sections }: GuidePage) {
  return (
    <Layout frame={frame} path={path} title={title} lead={lead}>
      {sections.map(({ id, title: heading, Body }) => (
        <section>
          <h2 id={id}>{heading}</h2>
          <Body document={frame.document} />
        </section>
      ))}
    </Layout>
  );
}

function endpointPage(frame: Frame, endpoint: Endpoint) {
  const { document, endpoints } = frame;
  return (
    <Layout frame={frame} path={endpoint.url} title={endpoint.operation.summary} isWide>
      <EndpointArticle document={document} endpoint={endpoint} shared={endpoints} level="h2" />
    </Layout>
  );
}

function indexPage(frame: Frame) {
  const { document, guide } = frame;
  const lead = "Every call, error and field with its page. The search reads this list.";
  return (
    <Layout frame={frame} path={REFERENCE_PATH} title="Reference" lead={lead}>
      <ReferenceIndex document={document} guide={guide} />
    </Layout>
  );
}
