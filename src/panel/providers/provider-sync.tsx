// Syncs a provider's list into the catalogue. The changes are shown first, then applied exactly as shown, or refused.

/** @jsxImportSource preact */

import type { Provider } from "../../db/providers/providers.ts";
import type { SyncedFields, SyncPlan } from "../../domain/providers/sync-plan.ts";
import { CatalogueError, type UpstreamEntry } from "../../domain/providers/upstream-services.ts";
import { expectedCurrency } from "../../domain/delivery/costs.ts";
import { countsOf, delistedRoutes } from "../../domain/providers/sync-counts.ts";
import { formatMicros } from "../../domain/ledger/money.ts";
import { typeTerms } from "../../domain/catalogue/service-types.ts";
import type { NewServices } from "../../domain/providers/providers.ts";
import { MARKUP } from "../../domain/values/kinds.ts";
import { readCategoryMarkups } from "../../domain/providers/pricing.ts";
import { counted, isIdentifier, showHidden } from "../../domain/values/text.ts";
import { planCatalogue, type SyncOptions } from "../../operations/providers/providers.ts";
import { failureText } from "./call-failures.ts";
import { ProviderFailure } from "../../providers/provider.ts";
import type { Submission } from "../server/call.ts";
import type { Panel } from "../server/panel.ts";
import type { Redirect } from "../../web/server/results.ts";
import type { Form as Values } from "../../web/server/form.ts";
import { List } from "../../web/components/lists.tsx";
import { requireProvider } from "./provider.tsx";
import { Money, Typed } from "../../web/components/shown.tsx";

/** Limit for the lines of each kind that a preview shows. */
const SHOWN_LIMIT = 200;

export async function syncProvider(submission: Submission, panel: Panel): Promise<Redirect> {
  const { form, params } = submission;
  const name = params["provider"]!;
  const given = form.optional("markup", MARKUP, "0");
  const only = selectedServices(form);
  const provider = await submission.read((reader) => requireProvider(reader, name));
  const markup = given ?? provider.markup;
  if (markup === null) form.addError("markup", "markup is required");
  form.check();
  if (markup === null) throw new Error("the form was checked");
  const options = { ...optionsOf(provider, only, form.isChecked("private")), markup };
  const upstream = await fetchServices(form, panel, provider);
  const plan = await makePlan(submission, provider, upstream, options);
  const counts = countsOf(plan);
  const changed = counts.added + counts.updated + counts.deactivated + counts.reactivated;
  await submission.confirm({
    title: `Sync ${provider.name}: change ${counted(changed, "service")}`,
    moves: [],
    details: (
      <Preview plan={plan} provider={provider} markup={markup} isWhole={only === undefined} />
    ),
    // If the list or the catalogue changes, the plan changes too.
    plan,
    danger: counts.deactivated > 0,
  });
  await submission.submit("syncCatalogue", { name, upstream, ...options, plan });
  const text = Object.entries(counts).flatMap(([what, count]) =>
    count === 0 ? [] : [`${count} ${WORDS[what as keyof typeof counts]}`],
  );
  return { to: `/providers/${name}/prices`, note: `Synced: ${text.join(", ")}.` };
}

const WORDS: Record<keyof ReturnType<typeof countsOf>, string> = {
  added: "added",
  updated: "changed",
  unchanged: "as before",
  deactivated: "no longer listed",
  reactivated: "listed again",
  delisted: "delivered by others",
  skipped: "left out",
  unreadable: "unreadable",
  belowCost: "below cost",
};

/** Returns ids of services at the provider, or undefined for all. */
function selectedServices(form: Values): string[] | undefined {
  const ids = form
    .raw("only")
    .split(/[\s,]+/)
    .filter((id) => id !== "");
  if (!ids.every(isIdentifier)) form.refuse("only", "ids of its services, separated by commas");
  return ids.length === 0 ? undefined : ids;
}

/** Returns the options of a sync. Services that are named are wanted, even if new services are ignored by default. */
function optionsOf(provider: Provider, only: string[] | undefined, isPrivate: boolean) {
  const { syncNew, readableIds } = provider;
  const isIgnored = syncNew === "ignore" && only === undefined;
  const open: NewServices = isIgnored ? "ignore" : "public";
  const newServices: NewServices = isPrivate || syncNew === "private" ? "private" : open;
  return { newServices, readableIds, ...(only === undefined ? {} : { only }) };
}

/** Fetches the provider's list. Errors of the provider are shown above the form. */
async function fetchServices(
  form: Values,
  panel: Panel,
  provider: Provider,
): Promise<UpstreamEntry[]> {
  try {
    return await panel.connect(provider).services(new AbortController().signal);
  } catch (error) {
    if (!(error instanceof ProviderFailure)) throw error;
    form.addError("", `The provider's list cannot be read: ${failureText(error.message)}`);
    form.check();
    throw error;
  }
}

async function makePlan(
  submission: Submission,
  provider: Provider,
  upstream: readonly UpstreamEntry[],
  options: SyncOptions,
): Promise<SyncPlan> {
  try {
    return await submission.read((reader) => planCatalogue(reader, provider, upstream, options));
  } catch (error) {
    if (!(error instanceof CatalogueError)) throw error;
    submission.form.addError("", `The provider's list cannot be used: ${error.message}`);
    submission.form.check();
    throw error;
  }
}

function Preview({
  plan,
  provider,
  markup,
  isWhole,
}: {
  plan: SyncPlan;
  provider: Provider;
  markup: string;
  /** False if only some services are synced. */
  isWhole: boolean;
}) {
  const own = Object.entries(readCategoryMarkups(provider.categoryMarkups));
  return (
    <>
      {provider.rateToUsd !== "1" && (
        <p>
          Its rates are taken at {provider.rateToUsd} USD for 1{" "}
          {expectedCurrency(provider) ?? "unit of its currency"}.
        </p>
      )}
      <p>
        With a markup of {markup} %, which is {isWhole ? "stored" : "for these services only"}
        {own.length > 0 &&
          `, ${own.map(([category, percent]) => `${percent} % for ${showHidden(category)}`).join(", ")}`}
        {provider.roundPrices !== "none" && `, and prices rounded up to ${provider.roundPrices}`}.{" "}
        {plan.unchanged} services do not change. Terms that were set by hand are kept. If the list
        or the catalogue changes before you confirm, nothing is done.
      </p>
      <Part
        title="Added"
        rows={plan.added}
        columns={[
          { heading: "Service", cell: ({ name }) => <Typed text={name} /> },
          {
            heading: "Id at the provider",
            cell: ({ providerService }) => <code>{providerService}</code>,
          },
          ...termsColumns((fields: SyncPlan["added"][number]) => fields),
        ]}
      />
      <Part
        title="Changed"
        rows={plan.updated}
        columns={[
          {
            heading: "Service",
            cell: ({ before, after, returns }) => (
              <>
                <Change before={before.name} after={after.name} />
                {returns && " (listed again)"}
              </>
            ),
          },
          {
            heading: "Price USD",
            number: true,
            cell: ({ before, after }) => (
              <Change
                before={formatMicros(before.priceMicros)}
                after={formatMicros(after.priceMicros)}
              />
            ),
          },
          {
            heading: "Min",
            number: true,
            cell: ({ before, after }) => <Change before={`${before.min}`} after={`${after.min}`} />,
          },
          {
            heading: "Max",
            number: true,
            cell: ({ before, after }) => <Change before={`${before.max}`} after={`${after.max}`} />,
          },
          {
            heading: "Type",
            cell: ({ before, after }) => (
              <Change before={typeText(before)} after={typeText(after)} />
            ),
          },
        ]}
      />
      <Part
        title="No longer listed: deactivated"
        rows={plan.deactivated}
        columns={[
          { heading: "Service", cell: ({ name }) => <Typed text={name} /> },
          { heading: "Id", cell: ({ id }) => <code>{id}</code> },
        ]}
      />
      <Part
        title="No longer listed: delivered by others"
        rows={delistedRoutes(plan)}
        columns={[
          { heading: "Service", cell: ({ name }) => <Typed text={name} /> },
          { heading: "Id", cell: ({ id }) => <code>{id}</code> },
          {
            heading: "Id at the provider",
            cell: ({ providerService }) => <code>{providerService}</code>,
          },
        ]}
      />
      <Part
        title="Below cost: sold for less than the provider charges"
        rows={plan.belowCost}
        columns={[
          { heading: "Service", cell: ({ name }) => <Typed text={name} /> },
          {
            heading: "Our price USD",
            number: true,
            cell: ({ priceMicros }) => <Money micros={priceMicros} />,
          },
          {
            heading: "Its rate, USD",
            number: true,
            cell: ({ rate, isPackage }) => `${rate} for ${isPackage ? "the package" : "1000"}`,
          },
        ]}
      />
      <Part
        title="Left out"
        rows={[
          ...plan.skipped.map(({ service, name, reason }) => ({
            what: `${name} (${service})`,
            reason,
          })),
          ...plan.unreadable.map(({ entry, service, reason }) => ({
            what: `entry ${entry}${service === null ? "" : ` (${service})`}`,
            reason,
          })),
        ]}
        columns={[
          { heading: "Entry", cell: ({ what }) => <Typed text={what} /> },
          { heading: "Why", cell: ({ reason }) => <Typed text={reason} /> },
        ]}
      />
    </>
  );
}

function termsColumns<Row>(of: (row: Row) => SyncedFields) {
  return [
    {
      heading: "Price USD",
      number: true,
      cell: (row: Row) => <Money micros={of(row).priceMicros} />,
    },
    {
      heading: "Type",
      cell: (row: Row) => typeText(of(row)),
    },
    { heading: "Min", number: true, cell: (row: Row) => of(row).min },
    { heading: "Max", number: true, cell: (row: Row) => of(row).max },
  ];
}

function typeText({ type, dripfeed }: SyncedFields): string {
  return `${typeTerms(type).words}${dripfeed ? ", drip-feed" : ""}`;
}

function Part<Row>({
  title,
  rows,
  columns,
}: {
  title: string;
  rows: readonly Row[];
  columns: Parameters<typeof List<Row>>[0]["columns"];
}) {
  if (rows.length === 0) return null;
  return (
    <>
      <h2>
        {title} <small>{rows.length}</small>
      </h2>
      <List caption={title} rows={rows.slice(0, SHOWN_LIMIT)} columns={columns} empty="" />
      {rows.length > SHOWN_LIMIT && <p>And {rows.length - SHOWN_LIMIT} more.</p>}
    </>
  );
}

function Change({ before, after }: { before: string; after: string }) {
  if (before === after) return <Typed text={after} />;
  return (
    <>
      <del>
        <Typed text={before} />
      </del>{" "}
      <ins>
        <Typed text={after} />
      </ins>
    </>
  );
}
