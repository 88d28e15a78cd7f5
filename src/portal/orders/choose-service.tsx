// New order, first step: the service, by category and search. With JavaScript the list follows what is typed.

/** @jsxImportSource preact */

import { listNumberedServices } from "../../db/catalogue/services.ts";
import { Choice, Field, Filters } from "../../web/components/fields.tsx";
import type { View } from "../../web/server/results.ts";
import { ServiceList } from "../catalogue/service-list.tsx";
import { searchServices } from "../catalogue/service-search.ts";
import type { Call } from "../server/call.ts";
import type { Portal } from "../server/portal.ts";

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
              <ServiceList
                caption={t("orders.service")}
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
