// Parts of the documentation pages: prose, code, tables and tabs.

/** @jsxImportSource preact */

import type { ComponentChildren, VNode } from "preact";

/** Prose with `code` in it. */
export function Prose({ text }: { text: string }) {
  return (
    <>{text.split("`").map((part, index) => (index % 2 === 0 ? part : <code>{part}</code>))}</>
  );
}

/** Placeholders for the reader's URL and key, with the text shown until the page's script fills them in. */
const PLACEHOLDERS: Readonly<Record<string, VNode>> = {
  RESELLER_URL_HERE: <span class="url">https://your-reseller.example</span>,
  RESELLER_KEY_HERE: <span class="key">YOUR_API_KEY</span>,
};

/** A code block. */
export function Code({ text, label }: { text: string; label: string }) {
  const parts = text.split(/(RESELLER_URL_HERE|RESELLER_KEY_HERE)/);
  return (
    <figure>
      <figcaption>
        {label}
        <button type="button" class="copy">
          Copy
        </button>
      </figcaption>
      <pre tabIndex={0}>
        <code>{parts.map((part) => PLACEHOLDERS[part] ?? part)}</code>
      </pre>
    </figure>
  );
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

/** Shows one of several texts, chosen by tab. `name` is unique in the page. */
export function Tabs({
  name,
  panels,
}: {
  name: string;
  panels: readonly (readonly [tab: string, label: string, text: string])[];
}) {
  return (
    <div class="tabs">
      {panels.map(([tab], index) => (
        <>
          <input type="radio" name={name} id={`${name}-${index}`} checked={index === 0} />
          <label for={`${name}-${index}`}>{tab}</label>
        </>
      ))}
      {panels.map(([, label, text]) => (
        <div>
          <Code text={text} label={label} />
        </div>
      ))}
    </div>
  );
}
