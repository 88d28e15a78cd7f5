// Services: the catalogue, new services, and changes of many prices at once.

/** @jsxImportSource preact */

import { namesOfProviders } from "../../db/providers/providers.ts";
import { type ListedService, listServicesAfter } from "../../db/catalogue/service-lists.ts";
import type { Service } from "../../db/catalogue/services.ts";
import type { User } from "../../db/users/users.ts";
import { mayAct } from "../../domain/administrators/administrators.ts";
import type { Margin } from "../../domain/catalogue/margins.ts";
import { priceFor } from "../../domain/catalogue/prices.ts";
import { IDENTIFIER_FORM, showHidden } from "../../domain/values/text.ts";
import type { Call, Submission } from "../server/call.ts";
import type { Redirect, View } from "../../web/server/results.ts";
import { Box, Choice, Field, Filters, Fold, Form } from "../../web/components/fields.tsx";
import { List } from "../../web/components/lists.tsx";
import { readMargins } from "../../db/catalogue/margins.ts";
import { MarginText, Rate } from "./margins.tsx";
import { filterOf, STATES } from "./service-filters.ts";
import { SelectedSwitches, ServiceSwitch } from "./service-switches.tsx";
import { BY_HAND, KINDS, TermsFields, termsOf } from "./service-terms.tsx";
import { Badge, Money, Typed } from "../../web/components/shown.tsx";

const PAGE = 50;

export async function servicesPage(call: Call): Promise<View> {
  const { filters } = call;
  const { rows, next, names, payer, margins } = await call.read((reader) => {
    const { payer, ...filter } = filterOf(filters, reader);
    const page =
      filters.errors.size > 0
        ? { rows: [], next: null }
        : listServicesAfter(reader, filter, filters.raw("after") || null, PAGE);
    const names = namesOfProviders(reader);
    const priceOf = (service: ListedService) => paidBy(payer, service);
    return { ...page, names, payer, margins: readMargins(reader, page.rows, priceOf) };
  });
  const mayChange = mayAct(call.visitor.administrator.role, "operator");
  // A price list cannot be changed here, because its prices are the reseller's.
  const mayReprice = mayChange && payer === null && rows.length > 0;
  const list = (
    <List
      caption="Services, by name"
      compact
      rows={rows}
      empty="No matching services."
      columns={columnsOf(names, mayReprice, payer, margins)}
    />
  );
  return {
    title: "Catalogue",
    body: (
      <>
        <h1>Catalogue</h1>
        <Filters action="/services" filters={filters}>
          <Field name="search" label="Name contains, or id" />
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
        </Filters>
        {mayReprice ? (
          <Form action="/service-prices" hidden={{ query: queryOf(call) }}>
            <div class="together">
              <span class="box" hidden>
                <input type="checkbox" id="all-services" data-all="service" />
                <label for="all-services">All on this page</label>
              </span>
              <Field
                name="percent"
                label="Change prices by percent"
                hint="such as 10 or -2.5"
                inputmode="text"
              />
              <Box name="all" label="all services that match the filters" />
              <button>Show the new prices</button>
              <SelectedSwitches />
            </div>
            {list}
          </Form>
        ) : (
          list
        )}
        <More call={call} next={next} />
        <p class="actions">
          {payer === null && <a href={`/services.csv?${queryOf(call)}`}>CSV of this list</a>}
          <a href="/grants.csv">Resellers’ prices as CSV</a>
        </p>
        {mayChange && <NewService names={[...names.values()]} />}
      </>
    ),
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
    cell: ({ id }: ListedService) => (
      <input type="checkbox" name="service" value={id} aria-label={`Select service ${id}`} />
    ),
  };
  const switched = {
    heading: "Switch",
    cell: (service: ListedService) => <ServiceSwitch service={service} />,
  };
  return [
    ...(maySelect ? [select] : []),
    {
      heading: "Service",
      title: ({ name }: ListedService) => showHidden(name),
      cell: ({ id, name }: ListedService) => (
        <a href={`/services/${id}`}>
          <Typed text={name} />
        </a>
      ),
    },
    { heading: "Number", number: true, cell: ({ number }: ListedService) => number },
    { heading: "Id", cell: ({ id }: ListedService) => <code>{id}</code> },
    { heading: "Category", cell: ({ category }: ListedService) => <Typed text={category} /> },
    ...(payer
      ? [
          {
            heading: "Its price USD",
            number: true,
            cell: (service: ListedService) => (
              <Price micros={paidBy(payer, service)} per={service.per} />
            ),
          },
        ]
      : []),
    {
      heading: payer ? "Catalogue USD" : "Price USD",
      number: true,
      cell: ({ priceMicros, per }: ListedService) => <Price micros={priceMicros} per={per} />,
    },
    {
      heading: "Rate USD",
      number: true,
      cell: ({ id }: ListedService) => <Rate margin={margins.get(id)} />,
    },
    {
      heading: "Margin",
      number: true,
      cell: ({ id }: ListedService) => <MarginText margin={margins.get(id)} />,
    },
    { heading: "Min", number: true, cell: ({ min }: ListedService) => min },
    { heading: "Max", number: true, cell: ({ max }: ListedService) => max },
    {
      heading: "State",
      cell: (service: ListedService) => <ServiceStates service={service} />,
    },
    {
      heading: "Provider",
      cell: ({ providerId, providerService }: ListedService) =>
        providerId === null ? BY_HAND : `${names.get(providerId)} ${providerService}`,
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

export function ServiceStates({ service }: { service: Service }) {
  return (
    <>
      <Badge state={service.active ? "active" : "inactive"} />
      {service.private && (
        <>
          {" "}
          <Badge state="private" />
        </>
      )}
      {service.delisted && (
        <>
          {" "}
          <Badge state="delisted" tone="bad" />
        </>
      )}
    </>
  );
}

/** Links to further pages. Services are listed by name, so a page continues after the last service's id. */
function More({ call, next }: { call: Call; next: string | null }) {
  const isLater = call.filters.raw("after") !== "";
  if (next === null && !isLater) return null;
  const query = new URLSearchParams(queryOf(call));
  const first = query.toString();
  if (next !== null) query.set("after", next);
  return (
    <nav class="pager" aria-label="Pages of the list">
      {isLater && <a href={`/services?${first}`}>First</a>}
      {next !== null && (
        <a href={`/services?${query}`} rel="next">
          Next
        </a>
      )}
    </nav>
  );
}

/** Returns the filters without the cursor. */
function queryOf(call: Call): string {
  const query = new URLSearchParams(call.filters.values);
  query.delete("after");
  return query.toString();
}

function NewService({ names }: { names: readonly string[] }) {
  return (
    <>
      <h2>New services</h2>
      <p class="actions">
        <a href="/import-services">Import a list</a>
        <a href="/import-grants">Import resellers' prices</a>
        {names.length > 0 && <a href="/providers">Sync a provider's list</a>}
      </p>
      <Fold action={"/services"} summary="Add one service">
        <Form action="/services" submit="Add the service">
          <TermsFields names={names} />
          <Field name="id" label="Id" hint={`${IDENTIFIER_FORM}; empty: a new one`} />
        </Form>
      </Fold>
    </>
  );
}

export async function createService(submission: Submission): Promise<Redirect> {
  const { form } = submission;
  const { terms, serviceProvider } = termsOf(form);
  const id = form.optionalIdentifier("id");
  const provider = serviceProvider === null ? {} : { provider: serviceProvider };
  const created = await submission.submit("createService", { id, ...terms, ...provider });
  return { to: `/services/${created.id}`, note: `${created.name} was added.` };
}
