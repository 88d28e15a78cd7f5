// The documentation pages: one for the API and one for owners of panels. Each is an HTML document that loads nothing and is
// generated from the OpenAPI document and the guides. Its Content-Security-Policy allows only its script and style, by
// hash.

/** @jsxImportSource preact */

import type { VNode } from "preact";
import { renderToString } from "preact-render-to-string";
import type { OpenApiDocument } from "../schemas/document.ts";
import { EndpointArticle } from "./page-endpoints.tsx";
import { Errors, Guides, OwnKey, QuickStart, Samples } from "./page-guides.tsx";
import { SMM_API_SECTIONS, SmmApiGuide } from "./page-smm-api.tsx";
import { SMM_API_PATH, SMM_API_TAG } from "../endpoints/smm-api.ts";
import { Testing } from "./page-testing.tsx";
import { Webhooks } from "./page-webhooks.tsx";
import { Prose } from "./parts.tsx";
import script from "./assets/page.client.js" with { type: "text" };
import style from "./assets/page.css" with { type: "text" };

export interface Page {
  html: string;
  /** Value of the header Content-Security-Policy. */
  policy: string;
}

const GUIDES = [
  ["quick-start", "Quick start"],
  ["keys", "Keys"],
  ["amounts", "Amounts and times"],
  ["types", "Types of services"],
  ["idempotency", "Retrying safely"],
  ["lists", "Lists"],
  ["states", "Order states"],
  ["receiving-webhooks", "Receiving webhooks"],
  ["test-keys", "Test keys"],
] as const;

export function renderPage(document: OpenApiDocument): Page {
  const { info } = document;
  // The protocol of panels has a page of its own.
  const tags = document.tags.filter(({ name }) => name !== SMM_API_TAG.name);
  const operations = Object.entries(document.paths)
    .filter(([path]) => path !== SMM_API_PATH)
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
    );
  const ofTag = (tag: string) => operations.filter(({ operation }) => operation.tags[0] === tag);
  const links = tags.map(({ name }) => (
    <>
      <p>{name}</p>
      <ul>
        {ofTag(name).map(({ method, operation }) => (
          <li>
            <a href={`#${operation.operationId}`}>
              <span class={`method ${method}`}>{method.toUpperCase()}</span>
              {operation.summary}
            </a>
          </li>
        ))}
      </ul>
    </>
  ));
  const sections = tags.map(({ name, description }) => (
    <section>
      <h2 id={name.toLowerCase()}>{name}</h2>
      <p>
        <Prose text={description} />
      </p>
      {ofTag(name).map((each) => (
        <EndpointArticle document={document} endpoint={each} />
      ))}
    </section>
  ));
  const contents = (
    <>
      <p>Guide</p>
      <ul>
        {GUIDES.map(([id, title]) => (
          <li>
            <a href={`#${id}`}>{title}</a>
          </li>
        ))}
      </ul>
      {links}
      <p>Reference</p>
      <ul>
        <li>
          <a href="#errors">Errors</a>
        </li>
        <li>
          <a href="#samples">Samples</a>
        </li>
        <li>
          <a href="/docs/panels">For panels: /api/v2</a>
        </li>
        <li>
          <a href="/openapi.json">openapi.json</a>
        </li>
      </ul>
    </>
  );
  const main = (
    <>
      <p class="lead">
        Version {info.version}. Order catalogue services, follow the orders, read your balance and
        statement, look up users and add credit: JSON over HTTP, with the key that your operator
        gave you. Your own panel connects without changes: <a href="/docs/panels">by URL and key</a>
        . <Contact document={document} />
      </p>
      <QuickStart />
      <Guides />
      <Webhooks document={document} />
      <Testing />
      {sections}
      <Errors operations={operations.map(({ operation }) => operation)} />
      <Samples />
    </>
  );
  return layout(document, info.title, contents, main);
}

/** Renders the page for owners of panels. */
export function renderSmmApiPage(document: OpenApiDocument): Page {
  const contents = (
    <>
      <ul>
        {SMM_API_SECTIONS.map(([id, title]) => (
          <li>
            <a href={`#${id}`}>{title}</a>
          </li>
        ))}
      </ul>
      <p>Reference</p>
      <ul>
        <li>
          <a href="/docs">The whole API</a>
        </li>
        <li>
          <a href="/openapi.json">openapi.json</a>
        </li>
      </ul>
    </>
  );
  const main = (
    <>
      <p class="lead">
        Version {document.info.version}. <Prose text={document.tags.at(-1)!.description} />{" "}
        <Contact document={document} />
      </p>
      <OwnKey />
      <SmmApiGuide />
    </>
  );
  return layout(document, `${document.info.title} for panels`, contents, main);
}

/** How to contact the operator; empty if the settings do not say. */
function Contact({
  document: {
    info: { contact },
  },
}: {
  document: OpenApiDocument;
}) {
  if (contact === undefined) return "";
  const { url, email } = contact;
  const href = url ?? `mailto:${email}`;
  return (
    <>
      Questions:{" "}
      <a href={href} rel="noreferrer">
        {url ?? email}
      </a>
      .
    </>
  );
}

function layout(document: OpenApiDocument, title: string, contents: VNode, main: VNode): Page {
  const page = (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{title}</title>
        <link rel="icon" href="data:," />
        <style dangerouslySetInnerHTML={{ __html: style }} />
      </head>
      <body>
        <a class="skip" href="#content">
          To the content
        </a>
        <div class="layout">
          <nav aria-label="Contents">
            <details open>
              <summary>Contents</summary>
              <p class="brand">{title}</p>
              {contents}
            </details>
          </nav>
          <main id="content">
            <h1>{title}</h1>
            {main}
            <footer>
              For programs: <a href="/openapi.json">openapi.json</a>, OpenAPI {document.openapi}.
              This page loads nothing from other servers.
            </footer>
          </main>
        </div>
        <script dangerouslySetInnerHTML={{ __html: script }} />
      </body>
    </html>
  );
  return { html: `<!doctype html>${renderToString(page)}`, policy: policyOf(style, script) };
}

/** Allows exactly the texts of the two elements. */
function policyOf(allowedStyle: string, allowedScript: string): string {
  return [
    "default-src 'none'",
    `style-src '${hashOf(allowedStyle)}'`,
    `script-src '${hashOf(allowedScript)}'`,
    "connect-src 'self'",
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

function hashOf(text: string): string {
  return `sha256-${new Bun.CryptoHasher("sha256").update(text).digest("base64")}`;
}
