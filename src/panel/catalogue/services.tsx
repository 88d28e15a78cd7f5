// Services: the catalogue with rates and margins, sorted and filtered, and changes of many services at once.

/** @jsxImportSource preact */

import { useContext } from "preact/hooks";
import { readMargins } from "../../db/catalogue/margins.ts";
import {
  computePage,
  isComputed,
  type ListedService,
  listServicesAfter,
  readPage,
  SERVICE_SORTS,
  type ServiceOrder,
} from "../../db/catalogue/service-lists.ts";
import type { Service } from "../../db/catalogue/services.ts";
import { namesOfProviders } from "../../db/providers/providers.ts";
import type { User } from "../../db/users/users.ts";
import { mayAct } from "../../domain/administrators/administrators.ts";
import type { Margin } from "../../domain/catalogue/margins.ts";
import { priceFor } from "../../domain/catalogue/prices.ts";
import { showHidden } from "../../domain/values/text.ts";
import { Bulk, RowBox } from "../../web/components/bulk.tsx";
import { Box, Choice, Field, Filters, Form, Refused } from "../../web/components/fields.tsx";
import { List, type Sorting } from "../../web/components/lists.tsx";
import { type Chip, PageHead, Pop } from "../../web/components/page-head.tsx";
import { Badge, Money, Typed } from "../../web/components/shown.tsx";
import type { Form as Values } from "../../web/server/form.ts";
import type { View } from "../../web/server/results.ts";
import type { Call } from "../server/call.ts";
import { MarginText, Rate } from "./margins.tsx";
import { BELOW_COST, filterOf, STATES } from "./service-filters.ts";
import { SelectedSwitches, ServiceSwitch } from "./service-switches.tsx";
import { BY_HAND, KINDS } from "./service-terms.tsx";

const PAGE = 50;
/** By category as the operator ordered them, then by name. */
const FIRST_ORDER: ServiceOrder = { by: "category", descending: false };

export async function servicesPage(call: Call): Promise<View> {
  const { filters } = call;
  const order = orderOf(filters);
  const after = filters.raw("after") || null;
  // In a read of its own: on PostgreSQL a read runs again for each round of loading, and this one computes much.
  const computed = await call.read((reader) => {
    const { payer: _, ...filter } = filterOf(filters, reader);
    const isPlain = filters.errors.size > 0 || !isComputed(filter, order);
    return isPlain ? null : computePage(reader, filter, after, PAGE, order);
  });
  const { rows, next, names, payer, margins } = await call.read((reader) => {
    const { payer, ...filter } = filterOf(filters, reader);
    const read = () =>
      computed ? readPage(reader, computed) : listServicesAfter(reader, filter, after, PAGE, order);
    const page = filters.errors.size > 0 ? { rows: [], next: null } : read();
    const names = namesOfProviders(reader);
    const priceOf = (service: ListedService) => paidBy(payer, service);
    return { ...page, names, payer, margins: readMargins(reader, page.rows, priceOf) };
  });
  const mayChange = mayAct(call.visitor.administrator.role, "operator");
  // A price list cannot be changed here, because its prices are the reseller's.
  const mayReprice = mayChange && payer === null && rows.length > 0;
  const list = (
    <List
      caption="Services"
      compact
      rows={rows}
      empty="No matching services."
      sorting={sortingOf(call, order)}
      columns={columnsOf(names, mayReprice, payer, margins)}
    />
  );
  return {
    title: "Catalogue",
    body: (
      <>
        <PageHead title="Catalogue">
          <Search filters={filters} />
          <Filters action="/services" filters={filters} chips={chipsOf(filters)}>
            <Choice name="state" label="State" any="any" options={STATES} />
            <Choice name="kind" label="Open to" any="any" options={KINDS} />
            {names.size > 0 && (
              <Choice
                name="provider"
                label="Provider"
                any="any"
                options={[BY_HAND, ...names.values()]}
              />
            )}
            <Field name="user" label="Price list of reseller" />
            <Box name={BELOW_COST} label="only prices below cost" />
            <KeptFilters filters={filters} except={SHOWN_FILTERS} />
          </Filters>
          <span class="inline end">
            {mayReprice && <Reprice query={queryOf(call)} />}
            <Lists call={call} payer={payer} mayChange={mayChange} hasProviders={names.size > 0} />
            {mayChange && (
              <a class="button primary" href="/new-service">
                New service
              </a>
            )}
          </span>
        </PageHead>
        {mayReprice ? (
          <Form action="/service-prices" hidden={{ query: queryOf(call) }}>
            {list}
            <Bulk name="service">
              <SelectedSwitches />
              <span class="inline">
                <input
                  name="percent"
                  aria-label="Change their prices by percent"
                  placeholder="10 or -2.5"
                  autocomplete="off"
                />
                <button>Change prices by percent</button>
              </span>
            </Bulk>
          </Form>
        ) : (
          list
        )}
        <More call={call} next={next} />
      </>
    ),
  };
}

/** Fields of the filters that are behind the button. */
const SHOWN_FILTERS = ["state", "kind", "provider", "user", BELOW_COST];

/** The field that is always in sight. */
function Search({ filters }: { filters: Values }) {
  return (
    <form method="get" action="/services" class="inline" role="search" aria-label="Services">
      <input
        type="search"
        name="search"
        value={filters.raw("search")}
        placeholder="Name or id"
        aria-label="Name contains, or id"
      />
      <KeptFilters filters={filters} except={["search"]} />
      <button>Search</button>
    </form>
  );
}

/** The filters that a form does not show, so that sending it keeps them. */
function KeptFilters({ filters, except }: { filters: Values; except: readonly string[] }) {
  const kept = [...filters.values].filter(
    ([name, value]) => value !== "" && name !== "after" && !except.includes(name),
  );
  return (
    <>
      {kept.map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
    </>
  );
}

function chipsOf(filters: Values): Chip[] {
  const texts: Record<string, string> = {
    search: "Name or id",
    state: "State",
    kind: "Open to",
    provider: "Provider",
    user: "Price list of",
  };
  const chips = Object.entries(texts).flatMap(([name, text]): Chip[] => {
    const value = filters.raw(name);
    if (value === "") return [];
    return [
      {
        names: [name, "after"],
        text: (
          <>
            {text}: <Typed text={value} />
          </>
        ),
      },
    ];
  });
  if (filters.isChecked(BELOW_COST))
    chips.push({ names: [BELOW_COST, "after"], text: "Below cost" });
  return chips;
}

/** Another address than that of the form around the list, so that each shows its own errors. */
const ALL_PRICES = "/service-prices/all";

/** Changes the prices of all services of the list. */
function Reprice({ query }: { query: string }) {
  return (
    <Pop button="Change prices" atEnd open={useContext(Refused)?.action === ALL_PRICES}>
      <Form action={ALL_PRICES} hidden={{ query }}>
        <p>Of all services that match the filters. You see each new price first.</p>
        <Field
          name="percent"
          label="Change prices by percent"
          hint="such as 10 or -2.5"
          inputmode="text"
        />
        <p class="actions">
          <button class="primary" name="all" value="yes">
            Show the new prices
          </button>
        </p>
      </Form>
    </Pop>
  );
}

function Lists({
  call,
  payer,
  mayChange,
  hasProviders,
}: {
  call: Call;
  payer: User | null;
  mayChange: boolean;
  hasProviders: boolean;
}) {
  return (
    <Pop button="Lists" atEnd>
      <ul class="found">
        {mayChange && (
          <>
            <li>
              <a href="/import-services">Import a list</a>
            </li>
            <li>
              <a href="/import-grants">Import resellers' prices</a>
            </li>
            {hasProviders && (
              <li>
                <a href="/providers">Sync a provider's list</a>
              </li>
            )}
          </>
        )}
        <li>
          <a href="/categories">Order of categories</a>
        </li>
        {payer === null && (
          <li>
            <a href={`/services.csv?${queryOf(call)}`}>CSV of this list</a>
          </li>
        )}
        <li>
          <a href="/grants.csv">Resellers’ prices as CSV</a>
        </li>
      </ul>
    </Pop>
  );
}

/** Reads the order of the list: `price`, or `-price` for the highest first. */
function orderOf(filters: Values): ServiceOrder {
  const given = filters.raw("sort");
  const by = SERVICE_SORTS.find((sort) => sort === given.replace(/^-/, ""));
  return by ? { by, descending: given.startsWith("-") } : FIRST_ORDER;
}

function sortingOf(call: Call, { by, descending }: ServiceOrder): Sorting {
  const query = new URLSearchParams(queryOf(call));
  return {
    by,
    isDescending: descending,
    href(sort) {
      query.set("sort", sort === by && !descending ? `-${sort}` : sort);
      return `/services?${query}`;
    },
  };
}

function columnsOf(
  names: ReadonlyMap<number, string>,
  maySelect: boolean,
  /** The reseller whose price list is shown; null for the catalogue. */
  payer: User | null,
  margins: ReadonlyMap<string, Margin>,
) {
  const select = {
    heading: "Select",
    place: "box" as const,
    cell: ({ id }: ListedService) => (
      <RowBox name="service" value={id} label={`Select service ${id}`} />
    ),
  };
  const switched = {
    heading: "Switch",
    place: "state" as const,
    cell: (service: ListedService) => <ServiceSwitch service={service} />,
  };
  return [
    ...(maySelect ? [select] : []),
    {
      heading: "Number",
      number: true,
      wide: true,
      sort: "number",
      cell: ({ number }: ListedService) => number,
    },
    {
      heading: "Service",
      grow: true,
      sort: "name",
      place: "title" as const,
      title: ({ id, name }: ListedService) => showHidden(`${name} (${id})`),
      cell: (service: ListedService) => (
        <>
          <ServiceStates service={service} isShort />
          <a href={`/services/${service.id}`}>
            <Typed text={service.name} />
          </a>
        </>
      ),
    },
    {
      heading: "Category",
      sort: "category",
      // A price list has a column more.
      ...(payer ? { widest: true } : { wide: true }),
      title: ({ category }: ListedService) => showHidden(category),
      cell: ({ category }: ListedService) => <Typed text={category} />,
    },
    ...(payer
      ? [
          {
            heading: "Its price USD",
            number: true,
            place: "end" as const,
            cell: (service: ListedService) => (
              <Price micros={paidBy(payer, service)} per={service.per} />
            ),
          },
        ]
      : []),
    {
      heading: payer ? "Catalogue USD" : "Price USD",
      number: true,
      sort: "price",
      ...(payer ? {} : { place: "end" as const }),
      cell: ({ priceMicros, per }: ListedService) => <Price micros={priceMicros} per={per} />,
    },
    {
      heading: "Rate USD",
      number: true,
      sort: "rate",
      cell: ({ id }: ListedService) => <Rate margin={margins.get(id)} />,
    },
    {
      heading: "Margin",
      number: true,
      sort: "margin",
      place: "first" as const,
      cell: ({ id }: ListedService) => <MarginText margin={margins.get(id)} />,
    },
    {
      heading: "Provider",
      sort: "provider",
      wide: true,
      title: ({ providerService }: ListedService) =>
        providerService === null ? "" : `its service ${providerService}`,
      cell: ({ providerId }: ListedService) =>
        providerId === null ? BY_HAND : names.get(providerId),
    },
    ...(maySelect ? [switched] : []),
  ];
}

function Price({ micros, per }: { micros: number; per: Service["per"] }) {
  return (
    <>
      <Money micros={micros} /> <small>per {per}</small>
    </>
  );
}

function paidBy(payer: User | null, { priceMicros, ownPriceMicros }: ListedService): number {
  return payer ? priceFor(priceMicros, ownPriceMicros, payer.discountPpm) : priceMicros;
}

/** `isShort`: only what is unusual, before the name in a list. */
export function ServiceStates({
  service,
  isShort = false,
}: {
  service: Service;
  isShort?: boolean;
}) {
  const { active, private: isPrivate, delisted } = service;
  return (
    <>
      {(!isShort || !active) && (
        <>
          <Badge state={active ? "active" : "inactive"} />{" "}
        </>
      )}
      {isPrivate && (
        <>
          <Badge state="private" />{" "}
        </>
      )}
      {delisted && (
        <>
          <Badge state="delisted" tone="bad" />{" "}
        </>
      )}
    </>
  );
}

/** Links to further pages. A page continues after the last service's id. */
function More({ call, next }: { call: Call; next: string | null }) {
  const isLater = call.filters.raw("after") !== "";
  if (next === null && !isLater) return null;
  const query = new URLSearchParams(queryOf(call));
  const first = query.toString();
  if (next !== null) query.set("after", next);
  return (
    <nav class="pager" aria-label="Pages of the list">
      {isLater && (
        <a class="button" href={`/services?${first}`}>
          First
        </a>
      )}
      {next !== null && (
        <a href={`/services?${query}`} rel="next" class="button">
          Next
        </a>
      )}
    </nav>
  );
}

/** Returns the filters and the order, without the cursor. */
function queryOf(call: Call): string {
  const query = new URLSearchParams(call.filters.values);
  query.delete("after");
  return query.toString();
}
