// Margins beside prices, a warning if a price is below the provider's charge, and the question before it falls below.

/** @jsxImportSource preact */

import { findFirstMargin, type MarginTerms } from "../../db/catalogue/margins.ts";
import type { Reader } from "../../db/port/port.ts";
import { fallsBelowCost, type Margin } from "../../domain/catalogue/margins.ts";
import { List } from "../../web/components/lists.tsx";
import { Badge, Money, Typed } from "../../web/components/shown.tsx";
import type { Submission } from "../server/call.ts";

export function Rate({ margin }: { margin: Margin | null | undefined }) {
  return margin ? <Money micros={margin.costMicros} /> : <span class="none">–</span>;
}

export function MarginText({ margin }: { margin: Margin | null | undefined }) {
  if (!margin) return <span class="none">–</span>;
  return (
    <>
      {margin.isBelowCost && <BelowCost />}
      {margin.percent === null ? "" : ` ${margin.percent} %`}
    </>
  );
}

export function BelowCost() {
  return <Badge state="below cost" tone="bad" />;
}

/** What would be sold, and for how much. */
export interface Sale {
  name: string;
  /** The terms and price so far; null: it is not sold yet. */
  before: MarginTerms | null;
  after: MarginTerms;
}

/** Asks if any of the sales would be below cost and was not before. `title`: what is done then. */
export async function confirmBelowCost(
  submission: Submission,
  title: string,
  read: (reader: Reader) => Sale[],
): Promise<void> {
  const below = await submission.read((reader) => {
    const sold = (terms: MarginTerms) => ({
      priceMicros: terms.priceMicros,
      margin: findFirstMargin(reader, terms),
    });
    return reader
      .each(read(reader), ({ name, before, after }) => ({
        name,
        before: before && sold(before),
        after: sold(after),
      }))
      .filter(({ before, after }) => fallsBelowCost(before, after));
  });
  if (below.length === 0) return;
  await submission.confirm({
    title,
    moves: [],
    danger: true,
    details: (
      <List
        caption="Below cost"
        rows={below}
        empty=""
        columns={[
          { heading: "Service", cell: ({ name }) => <Typed text={name} /> },
          {
            heading: "New price USD",
            number: true,
            cell: ({ after }) => <Money micros={after.priceMicros} />,
          },
          {
            heading: "Rate USD",
            number: true,
            cell: ({ after }) => <Rate margin={after.margin} />,
          },
          {
            heading: "New margin",
            number: true,
            cell: ({ after }) => <MarginText margin={after.margin} />,
          },
        ]}
      />
    ),
    plan: below.map(({ name, after }) => [name, after.priceMicros, after.margin!.costMicros]),
  });
}
