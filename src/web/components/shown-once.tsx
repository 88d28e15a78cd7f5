// The page that shows a new key or secret, once.

/** @jsxImportSource preact */

import type { View } from "../server/results.ts";
import { useWords } from "./words.ts";

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
        <Shown text={text} path={path} />
      </>
    ),
  };
}

function Shown({ text, path }: { text: string; path: string }) {
  const words = useWords();
  return (
    <>
      <p class="notice busy">{words.shownOnce}</p>
      <pre id="key">{text}</pre>
      <p class="actions">
        <button type="button" data-copy="key" data-copied={words.copied} hidden>
          {words.copy}
        </button>
        <a href={path}>{words.done}</a>
      </p>
    </>
  );
}
