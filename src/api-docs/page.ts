// The documentation page: one HTML document that loads nothing, generated from the OpenAPI document and the guides.
// Its Content-Security-Policy allows its script and style by their hashes and nothing else.

import type { OpenApiDocument } from "./document.ts";
import { renderEndpoint } from "./page-endpoints.ts";
import { renderErrors, renderGuides, renderQuickStart, renderSamples } from "./page-guides.ts";
import { renderTesting } from "./page-testing.ts";
import { renderWebhooks } from "./page-webhooks.ts";
import { html, Html, prose } from "./html.ts";
import script from "./assets/page.client.js" with { type: "text" };
import style from "./assets/page.css" with { type: "text" };

export interface Page {
  html: string;
  /** For the header Content-Security-Policy. */
  policy: string;
}

const GUIDES = [
  ["quick-start", "Quick start"],
  ["keys", "Keys"],
  ["amounts", "Amounts and times"],
  ["idempotency", "Retrying safely"],
  ["lists", "Lists"],
  ["states", "Order states"],
  ["receiving-webhooks", "Receiving webhooks"],
  ["test-keys", "Test keys"],
] as const;

export function renderPage(document: OpenApiDocument): Page {
  const { info } = document;
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const ofTag = (tag: string) => operations.filter(({ operation }) => operation.tags[0] === tag);
  const links = document.tags.map(
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
  const sections = document.tags.map(
    ({ name, description }) =>
      html`<section>
        <h2 id="${name.toLowerCase()}">${name}</h2>
        <p>${prose(description)}</p>
        ${ofTag(name).map((each) => renderEndpoint(document, each))}
      </section>`,
  );
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${info.title}</title>
        <link rel="icon" href="data:," />
        ${element("style", style)}
      </head>
      <body>
        <a class="skip" href="#content">To the content</a>
        <div class="layout">
          <nav aria-label="Contents">
            <details open>
              <summary>Contents</summary>
              <p class="brand">${info.title}</p>
              <p>Guide</p>
              <ul>
                ${GUIDES.map(([id, title]) => html`<li><a href="#${id}">${title}</a></li>`)}
              </ul>
              ${links}
              <p>Reference</p>
              <ul>
                <li><a href="#errors">Errors</a></li>
                <li><a href="#samples">Samples</a></li>
                <li><a href="/openapi.json">openapi.json</a></li>
              </ul>
            </details>
          </nav>
          <main id="content">
            <h1>${info.title}</h1>
            <p class="lead">
              Version ${info.version}. Order catalogue services, follow the orders, read your
              balance and statement, look up users and add credit: JSON over HTTP, with the key that
              your operator gave you.
            </p>
            ${renderQuickStart()} ${renderGuides()} ${renderWebhooks()} ${renderTesting()}
            ${sections} ${renderErrors(operations.map(({ operation }) => operation))}
            ${renderSamples()}
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

/** Exactly the text whose hash is in the policy. */
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
