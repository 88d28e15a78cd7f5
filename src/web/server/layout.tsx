// The document around every page.

/** @jsxImportSource preact */

import type { ComponentChildren } from "preact";
import { renderToString } from "preact-render-to-string";
import { showHidden } from "../../domain/values/text.ts";
import type { Note } from "./notes.ts";
import { SCRIPT, STYLE } from "./assets.ts";

interface Frame {
  title: string;
  /** What is beside the name in the head: navigation, and who is signed in. */
  header: ComponentChildren;
  /** Result of the last action. */
  note?: Note | null;
}

export function documentOf(frame: Frame, body: ComponentChildren): string {
  return `<!doctype html>${renderToString(<Document {...frame}>{body}</Document>)}`;
}

function Document({
  title,
  header,
  note = null,
  children,
}: Frame & { children?: ComponentChildren }) {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{`${showHidden(title)} – reseller`}</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href={STYLE.path} />
        <script src={SCRIPT.path} defer />
      </head>
      <body>
        <a class="skip" href="#content">
          To the content
        </a>
        <header>
          <strong>reseller</strong>
          {header}
        </header>
        <main id="content">
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
