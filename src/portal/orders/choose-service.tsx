// New order, first step: the service, by category and search. With JavaScript the list follows what is typed.

/** @jsxImportSource preact */

import { listNumberedServices, type NumberedService } from "../../db/catalogue/services.ts";
import { Choice, Field, Filters } from "../../web/components/fields.tsx";
import { List } from "../../web/components/lists.tsx";
import { Typed } from "../../web/components/shown.tsx";
import type { View } from "../../web/server/results.ts";
import { searchServices } from "../catalogue/service-search.ts";
import { boundsText, priceText, usualTime } from "../parts/shown.tsx";
import type { Call } from "../server/call.ts";
import type { Portal } from "../server/portal.ts";
import type { Visitor } from "../server/visitor.ts";

/** Number of services that are listed. Others are found by searching. */
const SHOWN = 50;

export async function chooseServicePage(call: Call, { completionTimes }: Portal): Promise<View> {
  const { visitor, filters } = call;
  const { t } = visitor;
  const services = await call.read((reader) => listNumberedServices(reader, visitor.payer.account));
  const { categories, found } = searchServices(services, filters);
  return {
    title: t("newOrder.title"),
    body: (
      <>
        <h1>{t("newOrder.title")}</h1>
        <p>
          <a href="/new-orders">{t("several.title")}</a>
        </p>
        {services.length === 0 ? (
          <p class="empty">{t("newOrder.noServices")}</p>
        ) : (
          <>
            <Filters action="/new-order" filters={filters} live="services">
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
              <Services
                visitor={visitor}
                services={found.slice(0, SHOWN)}
                times={completionTimes}
              />
            </div>
          </>
        )}
      </>
    ),
  };
}

function Services({
  visitor,
  services,
  times,
}: {
  visitor: Visitor;
  services: readonly NumberedService[];
  times: Portal["completionTimes"];
}) {
  const { t } = visitor;
  return (
    <List
      caption={t("orders.service")}
      rows={services}
      empty={t("newOrder.none")}
      compact
      columns={[
        {
          heading: t("orders.number"),
          cell: ({ number }) => String(number),
          place: "first",
          named: true,
        },
        {
          heading: t("orders.service"),
          cell: ({ name, number }) => (
            <a href={`/new-order/${number}`}>
              <Typed text={name} />
            </a>
          ),
          title: ({ name }) => name,
          grow: true,
          place: "title",
        },
        {
          heading: t("newOrder.category"),
          cell: ({ category }) => <Typed text={category} />,
          widest: true,
        },
        {
          heading: t("newOrder.price"),
          number: true,
          cell: (service) => priceText(visitor, service),
          place: "end",
        },
        {
          heading: t("orders.quantity"),
          number: true,
          cell: (service) => boundsText(visitor, service),
          place: "second",
        },
        {
          heading: t("services.time"),
          cell: ({ number }) => usualTime(visitor, times.of(number)),
          place: "foot",
          named: true,
        },
      ]}
    />
  );
}
