// Changes many prices by a percentage. Each new price is shown first, and exactly the shown prices are changed.

/** @jsxImportSource preact */

import { PERCENT } from "../../domain/values/kinds.ts";
import type { Service } from "../../db/catalogue/services.ts";
import type { Margin } from "../../domain/catalogue/margins.ts";
import { planPrices, type PriceChange } from "../../domain/catalogue/services.ts";
import { counted } from "../../domain/values/text.ts";
import type { Submission } from "../server/call.ts";
import type { Redirect } from "../../web/server/results.ts";
import { List } from "../../web/components/lists.tsx";
import { readMargins } from "../../db/catalogue/margins.ts";
import { MarginText } from "./margins.tsx";
import { listPath, selectedServices } from "./service-selection.ts";
import { Money, Typed } from "../../web/components/shown.tsx";

/** Limit for the prices that a preview shows. */
const SHOWN_LIMIT = 200;

/** Changes prices by a percentage: shows each new price first, then changes exactly those. */
export async function changePrices(submission: Submission): Promise<Redirect> {
  const { form } = submission;
  const percent = form.required("percent", PERCENT, 0n);
  const services = await selectedServices(submission, "percent");
  const prices = planPrices(services, percent!);
  if (prices.length === 0) form.addError("percent", "No price would change");
  const count = counted(prices.length, "price");
  const margins = await submission.read((reader) => {
    const changed = new Map(prices.map((price) => [price.id, price.after]));
    const priced = services.filter(({ id }) => changed.has(id));
    return readMargins(reader, priced, ({ id }) => changed.get(id)!);
  });
  const below = [...margins.values()].filter(({ isBelowCost }) => isBelowCost).length;
  await submission.confirm({
    title: `Change ${count} by ${form.raw("percent").replace(/%$/, "")} %`,
    moves: [],
    details: <Prices {...{ prices, services, margins, below }} />,
    danger: below > 0,
    plan: prices,
  });
  await submission.submit("changePrices", { prices });
  return { to: listPath(submission), note: `${count} changed.` };
}

function Prices({
  prices,
  services,
  margins,
  below,
}: {
  prices: readonly PriceChange[];
  services: readonly Service[];
  /** The margins at the new prices. */
  margins: ReadonlyMap<string, Margin>;
  /** Number of the new prices that are below cost. */
  below: number;
}) {
  const names = new Map(services.map(({ id, name }) => [id, name]));
  return (
    <>
      {below > 0 && (
        <p class="notice bad">
          {counted(below, "new price")} below what the provider charges: see the margins.
        </p>
      )}
      <p>Orders that were placed keep their price. A later sync keeps the new prices.</p>
      <List
        caption="New prices"
        rows={prices.slice(0, SHOWN_LIMIT)}
        empty="No price would change."
        columns={[
          { heading: "Service", cell: ({ id }) => <Typed text={names.get(id)} /> },
          {
            heading: "Present price USD",
            number: true,
            cell: ({ before }) => <Money micros={before} />,
          },
          { heading: "New price USD", number: true, cell: ({ after }) => <Money micros={after} /> },
          {
            heading: "New margin",
            number: true,
            cell: ({ id }) => <MarginText margin={margins.get(id)} />,
          },
        ]}
      />
      {prices.length > SHOWN_LIMIT && <p>And {prices.length - SHOWN_LIMIT} more.</p>}
    </>
  );
}
