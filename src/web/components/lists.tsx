// Lists: a table that becomes cards on a phone, links between pages, and facts about one thing.

/** @jsxImportSource preact */

import type { ComponentChildren } from "preact";
import type { Form } from "../server/form.ts";

interface Column<Row> {
  heading: string;
  cell: (row: Row) => ComponentChildren;
  /** Aligns the column to the right. */
  number?: boolean;
  /** The whole text of a cell that may be cut off, shown while the pointer is on it. */
  title?: (row: Row) => string;
}

export function List<Row>({
  caption,
  columns,
  rows,
  empty,
  compact = false,
}: {
  /** Caption for screen readers. */
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  /** Text for an empty list. */
  empty: string;
  /** One line for each row: long texts are cut off. */
  compact?: boolean;
}) {
  if (rows.length === 0) return <p class="empty">{empty}</p>;
  const style = ({ number }: Column<Row>) => (number ? "number" : undefined);
  return (
    <table class={compact ? "list compact" : "list"}>
      <caption class="hidden">{caption}</caption>
      <thead>
        <tr>
          {columns.map((column) => (
            <th scope="col" class={style(column)}>
              {column.heading}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr>
            {columns.map((column) => (
              <td class={style(column)} data-label={column.heading} title={column.title?.(row)}>
                {column.cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Links between the pages of a list, with the same filters. `next`: the next page's cursor; null at the end. */
export function Pager({
  call,
  next,
}: {
  call: { path: string; filters: Form };
  next: number | null;
}) {
  const { values } = call.filters;
  if (next === null && !values.has("below")) return null;
  const query = (below: number | null) => {
    const changed = new URLSearchParams(values);
    changed.delete("below");
    if (below !== null) changed.set("below", String(below));
    return `${call.path}?${changed}`;
  };
  return (
    <nav class="pager" aria-label="Pages of the list">
      {values.has("below") && <a href={query(null)}>Newest</a>}
      {next !== null && (
        <a href={query(next)} rel="next">
          Older
        </a>
      )}
    </nav>
  );
}

/** A list of terms and values about one thing. */
export function Facts({ facts }: { facts: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {facts.map(([term, value]) => (
        <div>
          <dt>{term}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
