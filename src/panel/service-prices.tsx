// The change of many prices by a percentage: each is shown first, and exactly those are changed.

/** @jsxImportSource preact */

import { listServicesAfter } from "../db/service-lists.ts";
import { findService, type Service } from "../db/services.ts";
import { parsePercent, planPrices, type PriceChange } from "../domain/services.ts";
import { refusal } from "../domain/refusals.ts";
import { counted } from "../domain/text.ts";
import type { Redirect, Submission } from "./call.ts";
import { Form as Values } from "./form.ts";
import { List } from "./lists.tsx";
import { filterOf } from "./services.tsx";
import { Money, Typed } from "./shown.tsx";

/** Prices that a preview shows. */
const SHOWN_LIMIT = 200;
/** More than any catalogue has. */
const ALL = 10_000_000;

/** Changes prices by a percentage: first shows each, then changes exactly those. */
export async function changePrices(submission: Submission): Promise<Redirect> {
  const { form } = submission;
  const percent = parsePercent(form.raw("percent"));
  if (percent === null) form.refuse("percent", "from -100 to 999999, such as 10 or -2.5");
  const query = form.raw("query");
  const ids = [...new Set(form.all("service"))];
  const ofAll = form.isChecked("all");
  if (ids.length === 0 && !ofAll) form.note("percent", "Select services, or every one of the list");
  form.check();
  const services = await submission.read((reader) => {
    if (ofAll) {
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
  if (prices.length === 0) form.note("percent", "No price would change");
  const count = counted(prices.length, "price");
  await submission.confirm({
    title: `Change ${count} by ${form.raw("percent").replace(/%$/, "")} %`,
    moves: [],
    details: <Prices prices={prices} services={services} />,
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
}: {
  prices: readonly PriceChange[];
  services: readonly Service[];
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
          { heading: "Now USD", number: true, cell: ({ before }) => <Money micros={before} /> },
          { heading: "Then USD", number: true, cell: ({ after }) => <Money micros={after} /> },
        ]}
      />
      {prices.length > SHOWN_LIMIT && <p>And {prices.length - SHOWN_LIMIT} more.</p>}
    </>
  );
}
