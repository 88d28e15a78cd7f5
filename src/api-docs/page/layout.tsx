// What surrounds every documentation page: header with search, contents, footer.

/** @jsxImportSource preact */

import type { ComponentChildren } from "preact";
import type { GuidePage } from "../guide/guide.ts";
import type { OpenApiDocument } from "../schemas/document.ts";
import { SCRIPT, STYLE } from "./assets.ts";
import { type Endpoint, REFERENCE_PATH } from "./documented-endpoints.ts";
import { Prose } from "./parts.tsx";

/** What the contents of every page are made of. */
export interface Frame {
  document: OpenApiDocument;
  guide: readonly GuidePage[];
  endpoints: readonly Endpoint[];
}

export function Layout({
  frame,
  path,
  title,
  lead,
  isWide = false,
  children,
}: {
  frame: Frame;
  path: string;
  title: string;
  lead?: string;
  /** Whether code stands beside the text. */
  isWide?: boolean;
  children: ComponentChildren;
}) {
  const { info } = frame.document;
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{`${title} · ${info.title}`}</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href={STYLE.path} />
        <script src={SCRIPT.path} defer />
      </head>
      <body>
        <a class="skip" href="#content">
          To the content
        </a>
        <Header title={info.title} />
        <div class="layout">
          <Contents frame={frame} path={path} />
          <main id="content" class={isWide ? "wide" : undefined}>
            <h1>{title}</h1>
            {lead && (
              <p class="lead">
                <Prose text={lead} />
              </p>
            )}
            {children}
            <Footer document={frame.document} />
          </main>
        </div>
      </body>
    </html>
  );
}

/** Without the script the search leads to the index, which the browser's find searches. */
function Header({ title }: { title: string }) {
  return (
    <header>
      <input type="checkbox" id="menu" class="hidden" aria-label="Show the contents" />
      <label for="menu" class="menu" aria-hidden="true">
        Menu
      </label>
      <a class="brand" href="/docs">
        {title}
      </a>
      <form role="search" action={REFERENCE_PATH} class="search">
        <input
          type="search"
          id="search"
          aria-label="Search the documentation"
          placeholder="Search"
          autocomplete="off"
          spellcheck={false}
        />
        <kbd aria-hidden="true">/</kbd>
        <div id="found" hidden>
          <p role="status"></p>
          <ul></ul>
        </div>
      </form>
    </header>
  );
}

function Contents({ frame, path }: { frame: Frame; path: string }) {
  const { guide, endpoints, document } = frame;
  const link = (to: string, words: ComponentChildren) => (
    <a href={to} aria-current={to === path ? "page" : undefined}>
      {words}
    </a>
  );
  const groups = document.tags.filter(({ name }) => endpoints.some(({ tag }) => tag === name));
  return (
    <nav aria-label="Contents">
      <p>Guide</p>
      <ul>
        {guide.map(({ path: to, title, sections }) => (
          <li>
            {link(to, title)}
            {to === path && sections.length > 1 && (
              <ul>
                {sections.map(({ id, title: section }) => (
                  <li>
                    <a href={`#${id}`}>{section}</a>
                  </li>
                ))}
              </ul>
            )}
          </li>
        ))}
      </ul>
      <p>Reference</p>
      <ul>
        <li>{link(REFERENCE_PATH, "All calls, fields and errors")}</li>
      </ul>
      {groups.map(({ name }) => (
        <>
          <p>{name}</p>
          <ul>
            {endpoints
              .filter(({ tag }) => tag === name)
              .map(({ method, url, operation }) => (
                <li>
                  {link(
                    url,
                    <>
                      <span class={`method ${method}`}>
                        {method === "delete" ? "DEL" : method.toUpperCase()}
                      </span>
                      {operation.summary}
                    </>,
                  )}
                </li>
              ))}
          </ul>
        </>
      ))}
    </nav>
  );
}

function Footer({ document }: { document: OpenApiDocument }) {
  const { openapi, info } = document;
  return (
    <footer>
      Version {info.version}. For programs: <a href="/openapi.json">openapi.json</a>, OpenAPI{" "}
      {openapi}. These pages load nothing from other servers. <Contact document={document} />
    </footer>
  );
}

/** How to contact the operator; empty if the settings do not say. */
function Contact({ document: { info } }: { document: OpenApiDocument }) {
  if (info.contact === undefined) return "";
  const { url, email } = info.contact;
  return (
    <>
      Questions:{" "}
      <a href={url ?? `mailto:${email}`} rel="noreferrer">
        {url ?? email}
      </a>
      .
    </>
  );
}
