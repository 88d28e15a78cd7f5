// Parts of the documentation pages: prose, code, tables and tabs.

/** @jsxImportSource preact */

import type { ComponentChildren, VNode } from "preact";
import { type CodeCall, LANGUAGES } from "../code/languages.ts";
import { type Syntax, tokensOf } from "../code/highlight.ts";

/** Prose with `code` and [links](/docs) in it. */
export function Prose({ text }: { text: string }) {
  return (
    <>
      {text.split(/(`[^`]+`|\[[^\]]+\]\([^)]+\))/).map((part) => {
        if (part.startsWith("`")) return <code>{part.slice(1, -1)}</code>;
        const [, words, address] = /^\[(.+)\]\((.+)\)$/.exec(part) ?? [];
        if (address === undefined) return part;
        return (
          <a href={address}>
            <Prose text={words!} />
          </a>
        );
      })}
    </>
  );
}

/** Placeholders for the reader's URL and key, with the text shown until the page's script fills them in. */
const PLACEHOLDERS: Readonly<Record<string, VNode>> = {
  RESELLER_URL_HERE: <span class="url">https://your-reseller.example</span>,
  RESELLER_KEY_HERE: <span class="key">YOUR_API_KEY</span>,
};

function filled(text: string): ComponentChildren {
  const parts = text.split(/(RESELLER_URL_HERE|RESELLER_KEY_HERE)/);
  return parts.length === 1 ? text : parts.map((part) => PLACEHOLDERS[part] ?? part);
}

/** A code block, coloured. */
export function Code({
  text,
  label,
  syntax = "text",
}: {
  text: string;
  label: string;
  syntax?: Syntax;
}) {
  return (
    <figure>
      <figcaption>
        {label}
        <button type="button" class="copy">
          Copy
        </button>
      </figcaption>
      <pre tabIndex={0}>
        <code>
          {tokensOf(text.trimEnd(), syntax).map(({ kind, text: token }) =>
            kind === null ? filled(token) : <span class={kind}>{filled(token)}</span>,
          )}
        </code>
      </pre>
    </figure>
  );
}

export function Json({ value, label }: { value: unknown; label: string }) {
  return <Code text={JSON.stringify(value, null, 2)} label={label} syntax="json" />;
}

/**
 * A table with headings. A wide table scrolls sideways in its own frame. `about` says what it lists, unique within the
 * page.
 */
export function Table({
  headings,
  rows,
  about = headings.join(", "),
}: {
  headings: readonly string[];
  rows: readonly (readonly ComponentChildren[])[];
  about?: string;
}) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={about}>
      <table>
        <thead>
          <tr>
            {headings.map((heading) => (
              <th scope="col">{heading}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr>
              {row.map((cell) => (
                <td>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface Panel {
  /** Id of the language, by which the page's script remembers the choice. */
  id: string;
  name: string;
  label: string;
  syntax: Syntax;
  text: string;
}

/** Shows one of several texts, chosen by tab. `name` is unique in the page. */
export function Tabs({ name, panels }: { name: string; panels: readonly Panel[] }) {
  return (
    <div class="tabs" role="group" aria-label="Language">
      {panels.map(({ id, name: language }, index) => (
        <>
          <input type="radio" name={name} value={id} id={`${name}-${id}`} checked={index === 0} />
          <label for={`${name}-${id}`}>{language}</label>
        </>
      ))}
      {panels.map(({ label, text, syntax }) => (
        <div>
          <Code text={text} label={label} syntax={syntax} />
        </div>
      ))}
    </div>
  );
}

/** A call in each language. */
export function Calls({ name, call }: { name: string; call: CodeCall }) {
  const panels = LANGUAGES.map(({ id, name: language, syntax, file, write }) => ({
    id,
    name: language,
    label: file,
    syntax,
    text: write(call),
  }));
  return <Tabs name={name} panels={panels} />;
}
