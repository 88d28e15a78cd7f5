// The page that shows a new key or secret, once.

/** @jsxImportSource preact */

import type { View } from "../server/results.ts";

/**
 * Shows the text of a new key, of which only a hash is stored, or a secret, which no other page shows. `path`: where
 * the link leads. It must differ from the form's path by more than a fragment, or a browser would stay on this page.
 */
export function shownOnce(text: string, title: string, path: string): View {
  return {
    title,
    body: (
      <>
        <h1>{title}</h1>
        <p class="notice busy">This is shown once: copy it now. It cannot be looked up later.</p>
        <pre id="key">{text}</pre>
        <p class="actions">
          <button type="button" data-copy="key" hidden>
            Copy
          </button>
          <a href={path}>Done</a>
        </p>
      </>
    ),
  };
}
