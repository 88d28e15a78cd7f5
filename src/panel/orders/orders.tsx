// Orders: the list of all resellers' orders, with its filters, counts and saved views.

/** @jsxImportSource preact */

import { listSavedViews } from "../../db/administrators/administrators.ts";
import { lastLateReports } from "../../db/orders/late-reports.ts";
import { listOperatorOrders } from "../../db/orders/operator-orders.ts";
import { namesOfProviders } from "../../db/providers/providers.ts";
import { listServicesAfter } from "../../db/catalogue/service-lists.ts";
import { findService } from "../../db/catalogue/services.ts";
import { mayAct } from "../../domain/administrators/administrators.ts";
import { PLACEMENTS } from "../../domain/delivery/deliveries.ts";
import { ORDER_STATUSES } from "../../domain/orders/order-statuses.ts";
import type { Call } from "../server/call.ts";
import type { Panel } from "../server/panel.ts";
import type { View } from "../../web/server/results.ts";
import { Bulk } from "../../web/components/bulk.tsx";
import { Box, Choice, Field, Filters, Form } from "../../web/components/fields.tsx";
import { Pager } from "../../web/components/lists.tsx";
import { type Chip, PageHead, Tabs } from "../../web/components/page-head.tsx";
import { stateText, Typed } from "../../web/components/shown.tsx";
import { VERBS } from "./order-change.ts";
import { ORDERS_ON_PAGE, TOGETHER } from "./order-changes.tsx";
import { PERIODS, readOrderFilter } from "./order-filters.ts";
import { OrderList } from "./order-list.tsx";
import { countText, hitsText, readOrderSums } from "./order-sums.ts";
import { SavedViews, withoutPlace } from "./saved-filters.tsx";

/** Limit for services that the filter offers by name. With more services it is a field for the id. */
const OFFERED_LIMIT = 200;

export async function ordersPage(call: Call, panel: Panel): Promise<View> {
  const { filters } = call;
  const { name, role } = call.visitor.administrator;
  const { filter, rows, next, names, services, late, views, service } = await call.read(
    (reader) => {
      const filter = readOrderFilter(filters, reader, panel.now());
      const page = filter
        ? listOperatorOrders(reader, filter, filters.below(), ORDERS_ON_PAGE)
        : { rows: [], next: null };
      const numbers = page.rows.map(({ orderId }) => orderId);
      return {
        ...page,
        filter,
        names: namesOfProviders(reader),
        late: filter?.late ? lastLateReports(reader, numbers) : null,
        services: listServicesAfter(reader, {}, null, OFFERED_LIMIT),
        service: findService(reader, filters.raw("service"))?.name ?? "",
        views: listSavedViews(reader, name),
      };
    },
  );
  const sums = filter && (await readOrderSums(panel, filter, filters.values));
  const mayChange = mayAct(role, "operator");
  const query = withoutPlace(filters.values);
  return {
    title: "Orders",
    body: (
      <>
        <PageHead title="Orders">
          {sums && <small>{hitsText(sums, filter.status ?? null)}</small>}
          <Filters action="/orders" filters={filters} chips={chipsOf(call, service)}>
            <Field name="user" label="Reseller or user" />
            {services.next === null ? (
              <Choice
                name="service"
                label="Service"
                any="any"
                options={services.rows.map((each) => [each.id, each.name])}
              />
            ) : (
              <Field name="service" label="Service id" />
            )}
            {names.size > 0 && (
              <Choice name="provider" label="Provider" any="any" options={[...names.values()]} />
            )}
            <Field name="link" label="Link contains" />
            <Field name="from" label="From (UTC)" type="date" />
            <Field name="to" label="To (UTC)" type="date" />
            <Field name="ids" label="Numbers or ids" />
            <Field name="reference" label="Reference" />
            <Field name="provider-order" label="Number at the provider" />
            <Choice name="status" label="Status" options={statusOptions()} any="any" />
            <Choice name="placement" label="Delivery" options={PLACEMENTS} any="any" />
            <Choice name="days" label="Period" options={PERIODS} any="any" />
            <Box name="late" label="only orders with a change reported after their end" />
            <Box name="test" label="only test orders, which are listed nowhere else" />
          </Filters>
          <span class="inline end">
            <a class="button" href={`/orders.csv?${query}`}>
              CSV<span class="hidden"> of this list</span>
            </a>
            <SavedViews views={views} query={query} />
          </span>
        </PageHead>
        <Tabs
          label="Status"
          tabs={[null, ...ORDER_STATUSES].map((status) => ({
            text: status === null ? "All" : stateText(status),
            href: hrefWith(call, "status", status),
            isChosen: (filter?.status ?? null) === status,
            count: sums ? countText(sums, status) : undefined,
          }))}
        >
          <span class="end" />
          {PERIODS.map(([days, text]) => (
            <a
              href={hrefWith(call, "days", filters.raw("days") === days ? null : days)}
              aria-current={filters.raw("days") === days ? "true" : undefined}
              title="Days begin at 0:00 UTC"
            >
              {text}
            </a>
          ))}
        </Tabs>
        <div id="orders" data-refresh>
          <OrderList
            rows={rows}
            names={names}
            late={late}
            mayChange={mayChange}
            isSettling={filter?.placement === "unknown"}
            empty={
              next === null
                ? "No matching orders."
                : "No matches so far: continue with older orders."
            }
          />
        </div>
        {mayChange && rows.length > 0 && (
          <Form action="/orders/change" hidden={{ query }}>
            <Bulk name="order">
              {TOGETHER.map((to) => (
                <button name="to" value={to}>
                  {VERBS[to]}
                </button>
              ))}
            </Bulk>
          </Form>
        )}
        <Pager call={call} next={next} />
      </>
    ),
  };
}

function statusOptions() {
  return ORDER_STATUSES.map((status) => [status, stateText(status)] as const);
}

/** Returns the address of the list with one filter changed. */
function hrefWith({ filters }: Call, name: string, value: string | null): string {
  const query = new URLSearchParams(withoutPlace(filters.values));
  if (value === null) query.delete(name);
  else query.set(name, value);
  return `/orders?${query}`;
}

/** Returns the filters that are set, but for those that the tabs show. */
function chipsOf({ filters }: Call, service: string): Chip[] {
  const chips: Chip[] = [];
  const add = (names: readonly string[], label: string, value: string) => {
    if (value !== "") {
      const text = (
        <>
          {label}: <Typed text={value} />
        </>
      );
      chips.push({ names, text });
    }
  };
  add(["user"], "Reseller", filters.raw("user"));
  add(["service"], "Service", service || filters.raw("service"));
  add(["provider"], "Provider", filters.raw("provider"));
  add(["link"], "Link", filters.raw("link"));
  add(["ids"], "Numbers", filters.raw("ids"));
  add(["reference"], "Reference", filters.raw("reference"));
  add(["provider-order"], "Number at the provider", filters.raw("provider-order"));
  add(["placement"], "Delivery", filters.raw("placement"));
  const [from, to] = [filters.raw("from"), filters.raw("to")];
  if (from + to !== "") add(["from", "to"], "Created", `${from || "…"} to ${to || "today"}`);
  if (filters.isChecked("late")) chips.push({ names: ["late"], text: "Reported after the end" });
  if (filters.isChecked("test")) chips.push({ names: ["test"], text: "Test orders" });
  return chips;
}
