// Builds HTML. Everything that is not marked as HTML is escaped.

/** Text that is HTML already. */
export class Html {
  constructor(readonly text: string) {}
}

type Part = Html | string | number | readonly Html[] | false | undefined;

/** html`<p>${text}</p>` escapes inserted values, unless they are Html or a list of Html. */
export function html(strings: TemplateStringsArray, ...parts: Part[]): Html {
  let text = strings[0]!;
  for (const [index, part] of parts.entries()) text += render(part) + strings[index + 1]!;
  return new Html(text);
}

function render(part: Part): string {
  if (part === undefined || part === false) return "";
  if (part instanceof Html) return part.text;
  if (typeof part === "string" || typeof part === "number") return escape(String(part));
  return part.map((each) => each.text).join("");
}

function escape(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

/** Prose with `code` in it. */
export function prose(text: string): Html {
  return new Html(escape(text).replace(/`([^`]+)`/g, "<code>$1</code>"));
}

/** A code block. The page's script replaces URL and KEY by the reader's own. */
export function code(text: string, label: string): Html {
  const filled = escape(text)
    .replaceAll("RESELLER_URL_HERE", '<span class="url">https://your-reseller.example</span>')
    .replaceAll("RESELLER_KEY_HERE", '<span class="key">YOUR_API_KEY</span>');
  return new Html(
    `<figure><figcaption>${escape(label)}<button type="button" class="copy">Copy</button></figcaption>` +
      `<pre tabindex="0"><code>${filled}</code></pre></figure>`,
  );
}

/**
 * A table with headings. A wide table scrolls sideways in its own frame. `about` says what it lists, unique within the
 * page.
 */
export function table(
  headings: readonly string[],
  rows: readonly (readonly Html[])[],
  about?: string,
): Html {
  const head = headings.map((heading) => html`<th scope="col">${heading}</th>`);
  const body = rows.map(
    (row) =>
      html`<tr>
        ${row.map((cell) => html`<td>${cell}</td>`)}
      </tr>`,
  );
  return html`<div
    class="scroll"
    tabindex="0"
    role="region"
    aria-label="${about ?? headings.join(", ")}"
  >
    <table>
      <thead>
        <tr>
          ${head}
        </tr>
      </thead>
      <tbody>
        ${body}
      </tbody>
    </table>
  </div>`;
}

/** Shows one of several texts, chosen by tab. `name` is unique in the page. */
export function tabs(
  name: string,
  panels: readonly (readonly [tab: string, label: string, text: string])[],
): Html {
  const choices = panels.map(
    ([tab], index) =>
      html`<input
          type="radio"
          name="${name}"
          id="${name}-${index}"
          ${index === 0 && new Html(" checked")}
        /><label for="${name}-${index}">${tab}</label>`,
  );
  return html`<div class="tabs">
    ${choices}${panels.map(([, label, text]) => html`<div>${code(text, label)}</div>`)}
  </div>`;
}
