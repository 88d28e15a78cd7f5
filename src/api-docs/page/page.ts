// The documentation pages: one for the API and one for owners of panels. Each is an HTML document that loads nothing and is
// generated from the OpenAPI document and the guides. Its Content-Security-Policy allows only its script and style, by
// hash.

import type { OpenApiDocument } from "../schemas/document.ts";
import { renderEndpoint } from "./page-endpoints.ts";
import {
  renderErrors,
  renderGuides,
  renderOwnKey,
  renderQuickStart,
  renderSamples,
} from "./page-guides.ts";
import { PANEL_SECTIONS, renderPanels } from "./page-smm-api.ts";
import { PANEL_PATH, PANEL_TAG } from "../endpoints/smm-api.ts";
import { renderTesting } from "./page-testing.ts";
import { renderWebhooks } from "./page-webhooks.ts";
import { html, Html, prose } from "./html.ts";
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
  const tags = document.tags.filter(({ name }) => name !== PANEL_TAG.name);
  const operations = Object.entries(document.paths)
    .filter(([path]) => path !== PANEL_PATH)
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
    );
  const ofTag = (tag: string) => operations.filter(({ operation }) => operation.tags[0] === tag);
  const links = tags.map(
    ({ name }) =>
      html`<p>${name}</p>
        <ul>
          ${ofTag(name).map(
            ({ method, operation }) =>
              html`<li>
                <a href="#${operation.operationId}"
                  ><span class="method ${method}">${method.toUpperCase()}</span
                  >${operation.summary}</a
                >
              </li>`,
          )}
        </ul>`,
  );
  const sections = tags.map(
    ({ name, description }) =>
      html`<section>
        <h2 id="${name.toLowerCase()}">${name}</h2>
        <p>${prose(description)}</p>
        ${ofTag(name).map((each) => renderEndpoint(document, each))}
      </section>`,
  );
  const contents = html`<p>Guide</p>
    <ul>
      ${GUIDES.map(([id, title]) => html`<li><a href="#${id}">${title}</a></li>`)}
    </ul>
    ${links}
    <p>Reference</p>
    <ul>
      <li><a href="#errors">Errors</a></li>
      <li><a href="#samples">Samples</a></li>
      <li><a href="/docs/panels">For panels: /api/v2</a></li>
      <li><a href="/openapi.json">openapi.json</a></li>
    </ul>`;
  const main = html`<p class="lead">
      Version ${info.version}. Order catalogue services, follow the orders, read your balance and
      statement, look up users and add credit: JSON over HTTP, with the key that your operator gave
      you. Your own panel connects as it is: <a href="/docs/panels">by URL and key</a>.
      ${contactOf(document)}
    </p>
    ${renderQuickStart()} ${renderGuides()} ${renderWebhooks(document)} ${renderTesting()}
    ${sections} ${renderErrors(operations.map(({ operation }) => operation))} ${renderSamples()}`;
  return layout(document, info.title, contents, main);
}

/** Renders the page for owners of panels. */
export function renderPanelsPage(document: OpenApiDocument): Page {
  const contents = html`<ul>
      ${PANEL_SECTIONS.map(([id, title]) => html`<li><a href="#${id}">${title}</a></li>`)}
    </ul>
    <p>Reference</p>
    <ul>
      <li><a href="/docs">The whole API</a></li>
      <li><a href="/openapi.json">openapi.json</a></li>
    </ul>`;
  const main = html`<p class="lead">
      Version ${document.info.version}. ${prose(document.tags.at(-1)!.description)}
      ${contactOf(document)}
    </p>
    ${renderOwnKey()} ${renderPanels()}`;
  return layout(document, `${document.info.title} for panels`, contents, main);
}

/** Returns how to contact the operator; empty if the settings do not say. */
function contactOf({ info: { contact } }: OpenApiDocument): Html | string {
  if (contact === undefined) return "";
  const { url, email } = contact;
  const href = url ?? `mailto:${email}`;
  return html`Questions: <a href="${href}" rel="noreferrer">${url ?? email}</a>.`;
}

function layout(document: OpenApiDocument, title: string, contents: Html, main: Html): Page {
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title}</title>
        <link rel="icon" href="data:," />
        ${element("style", style)}
      </head>
      <body>
        <a class="skip" href="#content">To the content</a>
        <div class="layout">
          <nav aria-label="Contents">
            <details open>
              <summary>Contents</summary>
              <p class="brand">${title}</p>
              ${contents}
            </details>
          </nav>
          <main id="content">
            <h1>${title}</h1>
            ${main}
            <footer>
              For programs: <a href="/openapi.json">openapi.json</a>, OpenAPI ${document.openapi}.
              This page comes from your own server and asks nobody else.
            </footer>
          </main>
        </div>
        ${element("script", script)}
      </body>
    </html> `;
  return { html: page.text, policy: policyOf(style, script) };
}

/** Returns an element with exactly the text whose hash is in the policy. */
function element(name: "style" | "script", text: string): Html {
  return new Html(`<${name}>${text}</${name}>`);
}

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
