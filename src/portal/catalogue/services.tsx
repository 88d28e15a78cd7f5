// The price list as this reseller pays it, by category and search, and as CSV.

/** @jsxImportSource preact */

import { listNumberedServices, type NumberedService } from "../../db/catalogue/services.ts";
import { formatMicros } from "../../domain/ledger/money.ts";
import { SECOND_MS } from "../../domain/values/spans.ts";
import { csvFile, csvText } from "../../http/server/csv.ts";
import { Choice, Field, Filters } from "../../web/components/fields.tsx";
import { PageHead } from "../../web/components/page-head.tsx";
import type { View } from "../../web/server/results.ts";
import type { Call } from "../server/call.ts";
import type { Portal } from "../server/portal.ts";
import { ServiceList } from "./service-list.tsx";
import { searchServices } from "./service-search.ts";

/** Number of services that are listed. Others are found by searching, and all are in the CSV. */
const SHOWN = 200;
const CSV_HEADER =
  "service,name,category,price,per,min,max,type,refill,cancel,median_completion_seconds";

export async function servicesPage(call: Call, { completionTimes }: Portal): Promise<View> {
  const { visitor, filters } = call;
  const { t } = visitor;
  const { categories, found } = searchServices(await servicesOf(call), filters);
  return {
    title: t("services.title"),
    body: (
      <>
        <PageHead title={t("services.title")}>
          <a href={`/services.csv?${filters.values}`}>{t("site.csv")}</a>
        </PageHead>
        <Filters action="/services" filters={filters} live="services">
          <Field name="q" label={t("newOrder.search")} />
          <Choice
            name="category"
            label={t("newOrder.category")}
            any={t("newOrder.anyCategory")}
            options={categories}
          />
        </Filters>
        <div id="services" aria-live="polite">
          <p class="hint">
            {t("newOrder.found", { count: found.length })}
            {found.length > SHOWN && ` ${t("newOrder.more", { shown: SHOWN })}`}
          </p>
          <ServiceList
            caption={t("services.title")}
            hasTerms
            visitor={visitor}
            services={found.slice(0, SHOWN)}
            times={completionTimes}
          />
        </div>
        <p class="hint">{t("services.timeHint")}</p>
      </>
    ),
  };
}

/** Returns the services of the page as CSV, for programs: names of columns and amounts as the API has them. */
export async function servicesCsv(call: Call, { completionTimes }: Portal): Promise<Response> {
  const { found } = searchServices(await servicesOf(call), call.filters);
  const lines = found.map((service) =>
    [
      service.number,
      csvText(service.name),
      csvText(service.category),
      formatMicros(service.priceMicros),
      service.per,
      service.min,
      service.max,
      service.type,
      service.refill,
      service.cancel,
      secondsText(completionTimes.of(service.number)),
    ].join(","),
  );
  return csvFile("services.csv", [CSV_HEADER, ...lines, ""].join("\r\n"));
}

/** Returns whole seconds; empty if there are too few orders. */
function secondsText(milliseconds: number | null): string {
  return milliseconds === null ? "" : String(Math.round(milliseconds / SECOND_MS));
}

function servicesOf(call: Call): Promise<NumberedService[]> {
  return call.read((reader) => listNumberedServices(reader, call.visitor.payer.account));
}
