// The head of a page: its title and figures, tabs, parts that open above the page, and the filters that are set.

/** @jsxImportSource preact */

import type { ComponentChildren } from "preact";
import { showHidden } from "../../domain/values/text.ts";
import { useWords } from "./words.ts";

/** The title and, beside it, figures, filters, and at the end the buttons of the page. */
export function PageHead({
  title,
  children,
}: {
  title: ComponentChildren;
  children?: ComponentChildren;
}) {
  return (
    <div class="head">
      <h1>{title}</h1>
      {children}
    </div>
  );
}

export interface Tab {
  text: string;
  href: string;
  isChosen: boolean;
  /** Shown behind the text, such as a count. */
  count?: string | undefined;
}

/** Links of which one is chosen. `label`: what they choose, for screen readers. */
export function Tabs({
  label,
  tabs,
  children,
}: {
  label: string;
  tabs: readonly Tab[];
  children?: ComponentChildren;
}) {
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(({ text, href, isChosen, count }) => (
        <a href={href} aria-current={isChosen ? "true" : undefined}>
          {text}
          {count !== undefined && <small> {count}</small>}
        </a>
      ))}
      {children}
    </nav>
  );
}

/**
 * A part that a button opens above the page. `atEnd`: the last in its row, opened to the left. `primary`: what the page
 * is used for most.
 */
export function Pop({
  button,
  open,
  atEnd,
  primary = false,
  children,
}: {
  button: ComponentChildren;
  open?: boolean | undefined;
  atEnd?: boolean;
  primary?: boolean;
  children: ComponentChildren;
}) {
  return (
    <details class={atEnd ? "pop end" : "pop"} open={open}>
      <summary class={primary ? "button primary" : "button"}>{button}</summary>
      <div>{children}</div>
    </details>
  );
}

/** A filter that is set. */
export interface Chip {
  /** Names of its fields in the query string. */
  names: readonly string[];
  text: ComponentChildren;
}

/** Makes a chip for each field that is set. `texts`: a field's label, or a function that makes the text of its chip. */
export function chipsOfFields(
  values: URLSearchParams,
  texts: Readonly<Record<string, string | ((value: string) => string)>>,
): Chip[] {
  return Object.entries(texts).flatMap(([name, text]): Chip[] => {
    const value = values.get(name) ?? "";
    if (value === "") return [];
    const shown = typeof text === "string" ? `${text}: ${value}` : text(value);
    return [{ names: [name], text: showHidden(shown) }];
  });
}

/** The filters that are set. Each can be removed by itself. */
export function Chips({
  chips,
  call: { path, filters },
}: {
  chips: readonly Chip[];
  call: { path: string; filters: { values: URLSearchParams } };
}) {
  const words = useWords();
  if (chips.length === 0) return null;
  const without = (names: readonly string[]) => {
    const rest = new URLSearchParams(filters.values);
    for (const name of [...names, "below", "earlier"]) rest.delete(name);
    return `${path}?${rest}`;
  };
  return (
    <ul class="chips">
      {chips.map(({ names, text }) => (
        <li>
          <a href={without(names)}>
            <span class="hidden">{words.removeFilter} </span>
            {text} <span aria-hidden="true">×</span>
          </a>
        </li>
      ))}
    </ul>
  );
}
