// Margins beside prices, and a warning if a price is below the provider's charge.

/** @jsxImportSource preact */

import type { Margin } from "../../domain/catalogue/margins.ts";
import { Badge, Money } from "../../web/components/shown.tsx";

export function Rate({ margin }: { margin: Margin | null | undefined }) {
  return margin ? <Money micros={margin.costMicros} /> : <span class="none">–</span>;
}

export function MarginText({ margin }: { margin: Margin | null | undefined }) {
  if (!margin) return <span class="none">–</span>;
  return (
    <>
      {margin.percent === null ? "" : `${margin.percent} % `}
      {margin.isBelowCost && <Badge state="below cost" tone="bad" />}
    </>
  );
}
