// Lists: a table that becomes cards on a phone, links between pages, and facts about one thing.

/** @jsxImportSource preact */

import type { ComponentChildren } from "preact";
import { useContext } from "preact/hooks";
import type { Form } from "../server/form.ts";
import { inZone, Zone } from "./shown.tsx";
import { useWords } from "./words.ts";

/** Where a cell is on a phone, where each row is a card of two lines, and `foot` a line below. Cells without a place are left out there. */
type Place = "box" | "title" | "end" | "first" | "second" | "third" | "state" | "foot";

interface Column<Row> {
  heading: string;
  cell: (row: Row) => ComponentChildren;
  /** Aligns the column to the right. */
  number?: boolean;
  /** The whole text of a cell that may be cut off, shown while the pointer is on it. */
  title?: (row: Row) => string;
  /** Takes the room that the other columns of a compact list leave. */
  grow?: boolean;
  /** Left out of windows narrower than a laptop's. */
  wide?: boolean;
  /** Left out of windows narrower than a large screen's. */
  widest?: boolean;
  place?: Place;
  /** On a card the heading is before the value, as before a number in the first or second place. */
  named?: boolean;
  /** Name of the order that a click on the heading chooses. */
  sort?: string;
}

/** The order of the rows of a list, and the address of the list in another order. */
export interface Sorting {
  by: string;
  isDescending: boolean;
  href: (by: string) => string;
}

export function List<Row>({
  caption,
  columns,
  rows,
  empty,
  compact = false,
  isDated = false,
  sorting,
}: {
  /** Caption for screen readers. */
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  /** Text for an empty list. */
  empty: string;
  /** One line for each row: long texts are cut off. */
  compact?: boolean;
  /** Shows dates also where the script could say how long ago something was: for books. */
  isDated?: boolean;
  sorting?: Sorting;
}) {
  const zone = useContext(Zone);
  if (rows.length === 0) return <p class="empty">{empty}</p>;
  const hasPlaces = columns.some(({ place }) => place !== undefined);
  return (
    <table class={classes("list", compact && "compact", hasPlaces && "cards", isDated && "dated")}>
      <caption class="hidden">{caption}</caption>
      <thead>
        <tr>
          {columns.map((column) => (
            <Heading column={column} sorting={sorting} />
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr>
            {columns.map((column) => (
              <td
                class={styleOf(column)}
                data-label={inZone(column.heading, zone)}
                title={column.title?.(row)}
              >
                {column.cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Heading<Row>({
  column: { heading: given, sort, ...column },
  sorting,
}: {
  column: Column<Row>;
  sorting: Sorting | undefined;
}) {
  const heading = inZone(given, useContext(Zone));
  const isChosen = sort !== undefined && sorting?.by === sort;
  const [direction, mark] = sorting?.isDescending
    ? (["descending", "↓"] as const)
    : (["ascending", "↑"] as const);
  return (
    <th scope="col" class={styleOf(column)} aria-sort={isChosen ? direction : undefined}>
      {sort !== undefined && sorting ? (
        <a href={sorting.href(sort)}>
          {heading}
          {isChosen && ` ${mark}`}
        </a>
      ) : (
        // A column of boxes is as narrow as they are.
        <span class={column.place === "box" ? "hidden" : undefined}>{heading}</span>
      )}
    </th>
  );
}

function styleOf<Row>({
  number,
  grow,
  wide,
  widest,
  place,
  named = number && (place === "first" || place === "second"),
}: Partial<Column<Row>>): string | undefined {
  return classes(
    number && "number",
    grow && "grow",
    wide && "wide",
    widest && "widest",
    place,
    named && "named",
  );
}

function classes(...names: (string | false | undefined)[]): string | undefined {
  return names.filter(Boolean).join(" ") || undefined;
}

/** Limit for the earlier pages that an address holds. */
const EARLIER_PAGES = 50;

/**
 * Links between the pages of a list, with the same filters. `next`: the next page's cursor; null at the end. The
 * address holds the cursors of the earlier pages, so that `Newer` leads back to each of them.
 */
export function Pager({
  call,
  next,
}: {
  call: { path: string; filters: Form };
  next: number | null;
}) {
  const words = useWords();
  const { values } = call.filters;
  const below = values.get("below");
  if (next === null && below === null) return null;
  const earlier = (values.get("earlier") ?? "").split(" ").filter((each) => /^\d+$/.test(each));
  const hrefOf = (cursor: string | null, pages: readonly string[]) => {
    const changed = new URLSearchParams(values);
    changed.delete("below");
    changed.delete("earlier");
    if (cursor !== null) changed.set("below", cursor);
    if (pages.length > 0) changed.set("earlier", pages.join(" "));
    return `${call.path}?${changed}`;
  };
  return (
    <nav class="pager" aria-label={words.listPages}>
      {below !== null && (
        <a href={hrefOf(earlier.at(-1) ?? null, earlier.slice(0, -1))} rel="prev" class="button">
          {words.newer}
        </a>
      )}
      {next !== null && (
        <a
          href={hrefOf(
            String(next),
            [...earlier, ...(below === null ? [] : [below])].slice(-EARLIER_PAGES),
          )}
          rel="next"
          class="button"
        >
          {words.older}
        </a>
      )}
      {earlier.length > 0 && (
        <a href={hrefOf(null, [])} class="button">
          {words.newest}
        </a>
      )}
    </nav>
  );
}

/** A list of terms and values about one thing. */
export function Facts({ facts }: { facts: readonly (readonly [string, ComponentChildren])[] }) {
  const zone = useContext(Zone);
  return (
    <dl class="facts">
      {facts.map(([term, value]) => (
        <div>
          <dt>{inZone(term, zone)}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
