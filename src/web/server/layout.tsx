// The document around every page.

/** @jsxImportSource preact */

import type { ComponentChildren } from "preact";
import { renderToString } from "preact-render-to-string";
import { showHidden } from "../../domain/values/text.ts";
import type { Note } from "./notes.ts";
import { SCRIPT, STYLE } from "./assets.ts";
import type { Site } from "./site.ts";
import { Words } from "../components/words.ts";
import type { SiteWords } from "./words.ts";

interface Frame {
  site: Pick<Site<never, never, never>, "prefix" | "brand">;
  words: SiteWords;
  title: string;
  /** What is beside the name in the head: navigation, and who is signed in. */
  header: ComponentChildren;
  /** The side of the site that the page is on. */
  side?: string;
  /** What is above the content. */
  banner?: ComponentChildren;
  /** Result of the last action. */
  note?: Note | null;
  /** The time zone that the visitor chose; null for UTC. */
  zone?: string | null;
}

export function documentOf(frame: Frame, body: ComponentChildren): string {
  const text = renderToString(
    <Words.Provider value={frame.words}>
      <Document {...frame}>{body}</Document>
    </Words.Provider>,
  );
  return `<!doctype html>${below(frame.site.prefix, frame.side ?? "", text)}`;
}

/** Matches an attribute with a path of the site. Typed text never matches: a quotation mark in it is escaped. */
const PATHS = / (href|action|src)="\/(?!\/)(\.\.\/)?/g;

/** Puts the prefix of a site, and the side, before all paths in its pages. So pages are written without them. */
export function below(prefix: string, side: string, html: string): string {
  if (prefix === "" && side === "") return html.replaceAll(`="${OUT}`, '="/');
  return html.replace(
    PATHS,
    (_, name: string, out?: string) => ` ${name}="${prefix}${out === undefined ? side : ""}/`,
  );
}

/** Puts the side before a path. From a path that leaves the side, only removes `/..`. */
export function onSide(side: string, path: string): string {
  return path.startsWith(OUT) ? path.slice(OUT.length - 1) : side + path;
}

/** The beginning of every path that leaves the side. */
const OUT = "/../";

/** Returns a document as a file of its own: it contains its stylesheet and has no header and no script. */
export function fileOf(title: string, body: ComponentChildren): string {
  return `<!doctype html>${renderToString(
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{showHidden(title)}</title>
        <style dangerouslySetInnerHTML={{ __html: STYLE.text }} />
      </head>
      <body>
        <main>{body}</main>
      </body>
    </html>,
  )}`;
}

function Document({
  site: { brand },
  words,
  title,
  header,
  banner,
  note = null,
  zone = null,
  children,
}: Frame & { children?: ComponentChildren }) {
  return (
    <html lang={words.language} data-zone={zone ?? undefined}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{`${showHidden(title)} – ${brand.name}`}</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href={STYLE.path} />
        {brand.style !== null && <link rel="stylesheet" href={brand.style} />}
        <script src={SCRIPT.path} defer />
      </head>
      <body>
        <a class="skip" href="#content">
          {words.toContent}
        </a>
        <header>
          {brand.logo === null ? (
            <strong>{brand.name}</strong>
          ) : (
            <img class="logo" src={brand.logo} alt={brand.name} />
          )}
          {header}
        </header>
        <main id="content">
          {banner}
          {note !== null && (
            <p class={`notice ${note.tone}`} role="status">
              {showHidden(note.text)}
            </p>
          )}
          {children}
        </main>
      </body>
    </html>
  );
}
