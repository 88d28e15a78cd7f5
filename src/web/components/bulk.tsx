// What can be done with several rows of a list: a box in each row, and a bar that appears with the first tick.

/** @jsxImportSource preact */

import type { ComponentChildren } from "preact";
import type { Micros } from "../../domain/ledger/money.ts";

/** The box of a row. `form`: id of the form that it belongs to, if it is outside that form. */
export function RowBox({
  name,
  value,
  label,
  micros,
  form,
}: {
  name: string;
  value: string | number;
  label: string;
  /** An amount of the row: the script shows the sum of the ticked rows. */
  micros?: Micros;
  form?: string;
}) {
  const amount = micros === undefined ? {} : { "data-micros": String(micros) };
  return (
    <input type="checkbox" name={name} value={value} form={form} aria-label={label} {...amount} />
  );
}

/**
 * The bar with the buttons. With JavaScript it shows the number and the sum of the ticked rows. Without, the next page
 * shows them.
 */
export function Bulk({
  name,
  children,
}: {
  /** Name of the boxes in the rows. */ name: string;
  children: ComponentChildren;
}) {
  return (
    <div class="bulk together">
      <span class="box" hidden>
        <input type="checkbox" id={`all-${name}`} data-all={name} />
        <label for={`all-${name}`}>All on this page</label>
      </span>
      <output data-ticked={name}>With the ticked rows:</output>
      {children}
    </div>
  );
}
