// Figures in tiles, each beside the one before it.

/** @jsxImportSource preact */

import type { Micros } from "../../domain/ledger/money.ts";

export function Tile<Value extends Micros>({
  name,
  value,
  before,
  show,
}: {
  name: string;
  value: Value;
  /** The same figure of the time before. */
  before: Value;
  show: (value: Value) => string;
}) {
  return (
    <div class="card tile">
      {name} <strong>{show(value)}</strong>
      <small>
        before: {show(before)}
        {changeText(value, before)}
      </small>
    </div>
  );
}

/** Returns the change in percent, in brackets; empty if there was nothing before. */
function changeText(value: Micros, before: Micros): string {
  if (Number(before) === 0) return "";
  const share = (Number(value) - Number(before)) / Math.abs(Number(before));
  return ` (${share > 0 ? "+" : ""}${Math.round(share * 100)}\u202f%)`;
}
