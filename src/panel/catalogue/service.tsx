// One service: its terms, who may order it at which price, and the history of its prices.

/** @jsxImportSource preact */

import { listAuditEntries, type ListedAuditEntry } from "../../db/administrators/audit.ts";
import type { Reader } from "../../db/port/port.ts";
import { listProviders, type Provider } from "../../db/providers/providers.ts";
import { listGrants } from "../../db/catalogue/service-lists.ts";
import { listRoutes } from "../../db/catalogue/service-routes.ts";
import { findService, type Service } from "../../db/catalogue/services.ts";
import { withAuthors } from "../administrators/authors.ts";
import { mayAct } from "../../domain/administrators/administrators.ts";
import type { Margin } from "../../domain/catalogue/margins.ts";
import { attempt, Refusal, refusal } from "../../domain/values/error-table.ts";
import { applyChanges } from "../../operations/catalogue/services.ts";
import type { Route } from "../../domain/catalogue/service-routes.ts";
import { typeTerms } from "../../domain/catalogue/service-types.ts";
import type { Call, Submission } from "../server/call.ts";
import type { Redirect, View } from "../../web/server/results.ts";
import { Field, Fold, Form } from "../../web/components/fields.tsx";
import { Facts, List } from "../../web/components/lists.tsx";
import { readMargin } from "../../db/catalogue/margins.ts";
import { type ListedRoute, Routes } from "./service-routes.tsx";
import { BelowCost, confirmBelowCost, MarginText, Rate } from "./margins.tsx";
import { confirmOwnPrice } from "./own-price.ts";
import { TermsFields, termsOf, unitText } from "./service-terms.tsx";
import { listPath } from "./service-selection.ts";
import { ServiceStates } from "./services.tsx";
import { Money, Time, Typed } from "../../web/components/shown.tsx";
import { userPath } from "../users/shown-user.ts";

const HISTORY = 100;

export async function servicePage(call: Call): Promise<View> {
  const id = call.params["service"]!;
  const { service, providers, routes, grants, history } = await call.read((reader) => {
    const found = requireService(reader, id);
    const all = listProviders(reader);
    const margin = (route: Route, price?: number) => readMargin(reader, found, route, all, price);
    const inOrder = listRoutes(reader, found);
    const [first] = inOrder;
    return {
      service: found,
      providers: all,
      routes: reader.each(inOrder, (route) => ({ ...route, margin: margin(route) })),
      grants: reader.each(listGrants(reader, id), (grant) => ({
        ...grant,
        margin: first && grant.priceMicros !== null ? margin(first, grant.priceMicros) : null,
      })),
      history: withAuthors(
        reader,
        listAuditEntries(reader, { subject: id, limit: HISTORY }).filter(hasPrice),
      ),
    };
  });
  const path = `/services/${id}`;
  const mayChange = mayAct(call.visitor.administrator.role, "operator");
  const provider = providers.find(({ providerId }) => providerId === service.providerId)?.name;
  const names = providers.map(({ name }) => name);
  return {
    title: service.name,
    body: (
      <>
        <h1>
          <Typed text={service.name} /> <ServiceStates service={service} />
        </h1>
        <Losses routes={routes} providers={providers} service={service} />
        <div class="columns">
          <section class="card">
            <ServiceFacts service={service} provider={provider} margin={routes[0]?.margin} />
            {mayChange && (
              <Form action={`${path}/${service.active ? "deactivate" : "activate"}`}>
                <p class="actions">
                  <button>{service.active ? "Deactivate" : "Activate"}</button>
                  <small>
                    {service.active
                      ? "no new orders; placed orders continue"
                      : "orders are taken again"}
                  </small>
                  <a class="button" href={`/new-service?from=${id}`}>
                    Duplicate
                  </a>
                </p>
              </Form>
            )}
            {mayChange && (
              <Form action={`${path}/delete`}>
                <p class="actions">
                  <button class="danger">Delete</button>
                  <small>only for a service that was never ordered and has no grants</small>
                </p>
              </Form>
            )}
          </section>
          {mayChange && (
            <section class="card">
              <Form action={path} submit="Save">
                <h2>Terms</h2>
                <TermsFields service={service} names={names} {...(provider ? { provider } : {})} />
                <p class="hint">
                  Orders that were placed keep their terms. A sync does not overwrite your changes.
                </p>
              </Form>
            </section>
          )}
        </div>
        <Routes {...{ routes, providers, path, mayChange }} />
        <Grants grants={grants} path={path} mayChange={mayChange} />
        <h2>Price history</h2>
        <List
          caption="Price history, newest first"
          rows={history}
          empty="No price change is recorded."
          columns={[
            { heading: "When (UTC)", cell: ({ createdAt }) => <Time at={createdAt} /> },
            { heading: "By", cell: ({ by }) => <Typed text={by} /> },
            { heading: "For", cell: ({ username }) => username ?? "everyone" },
            { heading: "From USD", number: true, cell: ({ before }) => <Price facts={before} /> },
            { heading: "To USD", number: true, cell: ({ after }) => <Price facts={after} /> },
          ]}
        />
        <p class="actions">
          <a href={`/audit?subject=${id}`}>All changes</a>
          <a href={`/orders?service=${id}`}>Its orders</a>
        </p>
      </>
    ),
  };
}

function Losses({
  service,
  routes,
  providers,
}: {
  service: Service;
  routes: readonly ListedRoute[];
  providers: readonly Provider[];
}) {
  const losing = routes.flatMap(({ providerId, margin }) => {
    const provider = providers.find((each) => each.providerId === providerId);
    return provider && margin?.isBelowCost ? [{ provider, margin }] : [];
  });
  return (
    <>
      {losing.map(({ provider, margin }) => (
        <p class="notice bad">
          The price is below cost: {provider.name} charges <Money micros={margin.costMicros} /> USD
          {service.per === "order" ? " for the largest order" : ` per ${unitText(service.per)}`}.
        </p>
      ))}
    </>
  );
}

/** Returns the service. Throws service_not_found. */
function requireService(reader: Reader, id: string): Service {
  const service = findService(reader, id);
  if (!service) throw refusal("service_not_found");
  return service;
}

/**
 * Returns whether an entry changed a price of the service or of its grants. A subject of another kind may have the
 * same name.
 */
function hasPrice({ action, before, after }: ListedAuditEntry): boolean {
  if (!/^(service|grant)\./.test(action)) return false;
  return [before, after].some((facts) => facts !== null && "priceMicros" in facts);
}

function Price({ facts }: { facts: ListedAuditEntry["before"] }) {
  const micros = facts?.["priceMicros"];
  if (micros === null && facts) return <>the catalogue's</>;
  return typeof micros === "number" || typeof micros === "bigint" ? (
    <Money micros={micros} />
  ) : (
    <>–</>
  );
}

function ServiceFacts({
  service,
  provider,
  margin,
}: {
  service: Service;
  provider: string | undefined;
  /** At the first route. */
  margin: Margin | null | undefined;
}) {
  const byHand = [
    service.nameByHand && "name",
    service.categoryByHand && "category",
    service.priceByHand && "price",
    service.minByHand && "smallest order",
    service.maxByHand && "largest order",
    service.typeByHand && "type",
    service.dripfeedByHand && "drip-feed",
    service.cancelByHand && "cancel",
    service.refillByHand && "refill",
  ].filter((each) => each !== false);
  return (
    <Facts
      facts={[
        ["Number", service.number],
        ["Id", <code>{service.id}</code>],
        ["Category", <Typed text={service.category} />],
        [
          "Price USD",
          <>
            <Money micros={service.priceMicros} /> per {unitText(service.per)}
          </>,
        ],
        ...(margin
          ? [
              ["Rate USD", <Rate margin={margin} />] as const,
              ["Margin", <MarginText margin={margin} />] as const,
            ]
          : []),
        ["Type", typeTerms(service.type).words],
        ["Drip-feed", service.dripfeed ? "yes" : "no"],
        ["Orders of", `${service.min} to ${service.max}`],
        ["Open to", service.private ? "resellers with a grant" : "every reseller"],
        ["On request", requestsText(service)],
        [
          "Provider",
          provider === undefined ? (
            "by hand"
          ) : (
            <>
              <a href={`/providers/${provider}`}>{provider}</a>{" "}
              <code>{service.providerService}</code>
            </>
          ),
        ],
        ...(provider === undefined
          ? []
          : [["Set by hand", byHand.length === 0 ? "nothing" : byHand.join(", ")] as const]),
        ["Added (UTC)", <Time at={service.createdAt} />],
      ]}
    />
  );
}

function requestsText({ cancel, refill, refillDays }: Service): string {
  const taken = [cancel && "cancel", refill && `refill within ${refillDays} days`];
  return taken.filter((each) => each !== false).join(", ") || "nothing";
}

function Grants({
  grants,
  path,
  mayChange,
}: {
  grants: readonly (ReturnType<typeof listGrants>[number] & { margin: Margin | null })[];
  path: string;
  mayChange: boolean;
}) {
  return (
    <>
      <h2 id="grants">Grants and own prices</h2>
      <List
        caption="Grants"
        rows={grants}
        empty="No reseller has a grant."
        columns={[
          {
            heading: "Reseller",
            cell: ({ username }) => <a href={userPath(username)}>{username}</a>,
          },
          {
            heading: "Its price USD",
            number: true,
            cell: ({ priceMicros, margin }) =>
              priceMicros === null ? (
                "the catalogue's"
              ) : (
                <>
                  <Money micros={priceMicros} /> {margin?.isBelowCost && <BelowCost />}
                </>
              ),
          },
          { heading: "Since (UTC)", cell: ({ createdAt }) => <Time at={createdAt} /> },
          ...(mayChange
            ? [
                {
                  heading: "Change",
                  cell: ({ username }: { username: string }) => (
                    <Form action={`${path}/grants/revoke`} hidden={{ username }}>
                      <button aria-label={`Revoke the grant of ${username}`}>Revoke</button>
                    </Form>
                  ),
                },
              ]
            : []),
        ]}
      />
      {mayChange && (
        <Fold action={`${path}/grants`} summary="Add a grant or change a reseller's price">
          <Form action={`${path}/grants`} submit="Grant">
            <Field name="username" label="Reseller" required />
            <Field
              name="price"
              label="Reseller's price in USD"
              inputmode="decimal"
              hint="empty: the catalogue's price"
            />
          </Form>
        </Fold>
      )}
    </>
  );
}

/** Changes only what differs, so that the other fields still follow the provider's list. */
export async function updateService(submission: Submission): Promise<Redirect> {
  const id = submission.params["service"]!;
  const { terms, serviceProvider } = termsOf(submission.form);
  submission.form.check();
  const { before, provider } = await submission.read((reader) => {
    const found = requireService(reader, id);
    const linked = listProviders(reader).find(({ providerId }) => providerId === found.providerId);
    return { before: found, provider: linked?.name };
  });
  const differing = Object.entries(terms).filter(
    ([name, value]) => before[name as keyof typeof terms] !== value,
  );
  const isSame =
    serviceProvider?.name === provider &&
    (serviceProvider?.service ?? null) === before.providerService;
  const update = {
    changes: Object.fromEntries(differing),
    ...(isSame ? {} : { provider: serviceProvider }),
  };
  await confirmBelowCost(submission, "Save below cost", (reader) => {
    const after = attempt(() => applyChanges(reader, before, update.changes, update.provider));
    // No question after a refusal: the command below refuses too, and the form shows why beside the field.
    return after instanceof Refusal ? [] : [{ name: after.name, before, after }];
  });
  await submission.submit("updateService", { id, ...update });
  return { to: `/services/${id}`, note: "The service was saved." };
}

export function activateService(submission: Submission): Promise<Redirect> {
  return setActive(submission, true);
}

export function deactivateService(submission: Submission): Promise<Redirect> {
  return setActive(submission, false);
}

async function setActive(submission: Submission, active: boolean): Promise<Redirect> {
  const id = submission.params["service"]!;
  await submission.submit("setServiceActive", { id, active });
  // The form of the catalogue has its filters; the form of the service's page has none.
  const isOfList = submission.form.values.has("query");
  return {
    to: isOfList ? listPath(submission) : `/services/${id}`,
    note: `The service ${isOfList ? `${id} ` : ""}is ${active ? "active" : "inactive"}.`,
  };
}

export async function deleteService(submission: Submission): Promise<Redirect> {
  const id = submission.params["service"]!;
  await submission.confirm({ title: `Delete the service ${id}`, moves: [], danger: true });
  await submission.submit("deleteService", { id });
  return { to: "/services", note: `The service ${id} was deleted.` };
}

export async function grantService(submission: Submission): Promise<Redirect> {
  const { form } = submission;
  const id = submission.params["service"]!;
  const username = form.username("username");
  const priceMicros = form.optionalPrice("price");
  await confirmOwnPrice(submission, { id, username, priceMicros });
  await submission.submit("grantService", { id, username, priceMicros });
  return { to: `/services/${id}#grants`, note: `${username} has the grant.` };
}

export async function revokeGrant(submission: Submission): Promise<Redirect> {
  const id = submission.params["service"]!;
  const username = submission.form.username("username");
  await submission.submit("revokeService", { id, username });
  return { to: `/services/${id}#grants`, note: `The grant of ${username} was revoked.` };
}
