// Changes many prices by a percentage. Each new price is shown first, and exactly the shown prices are changed.

/** @jsxImportSource preact */

import { PERCENT } from "../../domain/values/kinds.ts";
import { listServicesAfter } from "../../db/catalogue/service-lists.ts";
import { findService, type Service } from "../../db/catalogue/services.ts";
import type { Margin } from "../../domain/catalogue/margins.ts";
import { planPrices, type PriceChange } from "../../domain/catalogue/services.ts";
import { refusal } from "../../domain/values/error-table.ts";
import { counted } from "../../domain/values/text.ts";
import type { Submission } from "../server/call.ts";
import type { Redirect } from "../../web/server/results.ts";
import { Form as Values } from "../../web/server/form.ts";
import { List } from "../../web/components/lists.tsx";
import { MarginText, readMargins } from "./margins.tsx";
import { filterOf } from "./services.tsx";
import { Money, Typed } from "../../web/components/shown.tsx";

/** Limit for the prices that a preview shows. */
const SHOWN_LIMIT = 200;
/** Limit for "all services", above the size of any catalogue. */
const ALL = 10_000_000;

/** Changes prices by a percentage: shows each new price first, then changes exactly those. */
export async function changePrices(submission: Submission): Promise<Redirect> {
  const { form } = submission;
  const percent = form.required("percent", PERCENT, 0n);
  const query = form.raw("query");
  const ids = [...new Set(form.all("service"))];
  const isWholeList = form.isChecked("all");
  if (ids.length === 0 && !isWholeList)
    form.addError("percent", "Select services, or the whole list");
  form.check();
  const services = await submission.read((reader) => {
    if (isWholeList) {
      const { payer: _, ...filter } = filterOf(new Values(new URLSearchParams(query)), reader);
      return listServicesAfter(reader, filter, null, ALL).rows;
    }
    return reader.each(ids, (id) => {
      const service = findService(reader, id);
      if (!service) throw refusal("service_not_found");
      return service;
    });
  });
  const prices = planPrices(services, percent!);
  if (prices.length === 0) form.addError("percent", "No price would change");
  const count = counted(prices.length, "price");
  const after = new Map(prices.slice(0, SHOWN_LIMIT).map((price) => [price.id, price.after]));
  const margins = await submission.read((reader) => {
    const shown = services.filter(({ id }) => after.has(id));
    return readMargins(reader, shown, ({ id }) => after.get(id)!);
  });
  await submission.confirm({
    title: `Change ${count} by ${form.raw("percent").replace(/%$/, "")} %`,
    moves: [],
    details: <Prices prices={prices} services={services} margins={margins} />,
    plan: prices,
  });
  await submission.submit("changePrices", { prices });
  return {
    to: query === "" ? "/services" : `/services?${new URLSearchParams(query)}`,
    note: `${count} changed.`,
  };
}

function Prices({
  prices,
  services,
  margins,
}: {
  prices: readonly PriceChange[];
  services: readonly Service[];
  /** The margins at the new prices. */
  margins: ReadonlyMap<string, Margin>;
}) {
  const names = new Map(services.map(({ id, name }) => [id, name]));
  return (
    <>
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
