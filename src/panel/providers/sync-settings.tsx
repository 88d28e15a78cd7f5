// Settings of syncs of a provider's services into the catalogue: prices, and scheduled syncs within limits.

/** @jsxImportSource preact */

import { CATEGORY, MARKUP, SYNC_EVERY } from "../../domain/values/kinds.ts";
import { findProvider, type Provider } from "../../db/providers/providers.ts";
import {
  type CategoryMarkupChanges,
  PRICE_ROUNDINGS,
  type PriceRounding,
  readCategoryMarkups,
} from "../../domain/providers/pricing.ts";
import { NEW_SERVICES, SYNC_EVERY_LEAST_MS } from "../../domain/providers/providers.ts";
import { formatDuration } from "../../domain/values/units.ts";
import type { Submission } from "../server/call.ts";
import type { Redirect } from "../../web/server/results.ts";
import { Area, Box, Choice, Field, Form } from "../../web/components/fields.tsx";
import type { Form as Values } from "../../web/server/form.ts";

const SERVICES_LIMIT = 1_000_000_000;

/** The rules, each with what it makes of a price of 1.1653. */
const EXAMPLES: Record<PriceRounding, string> = {
  none: "not at all: 1.1653",
  "0.0001": "to 0.0001: 1.1653",
  "0.001": "to 0.001: 1.166",
  "0.01": "to 0.01: 1.17",
  "0.1": "to 0.1: 1.2",
  "1": "to 1: 2",
  "x.xx9": "to x.xx9: 1.169",
  "x.x9": "to x.x9: 1.19",
  "x.99": "to x.99: 1.99",
};
/** Limit for the categories that a hint names. */
const NAMED = 30;

export function SyncSettings({
  provider,
  categories,
  path,
}: {
  provider: Provider;
  /** Names of the categories of its services. */
  categories: readonly string[];
  path: string;
}) {
  const { markup, syncEvery, syncPriceLimit, syncDeactivationLimit, syncNew } = provider;
  const own = Object.entries(readCategoryMarkups(provider.categoryMarkups));
  const named = categories.slice(0, NAMED).join(", ");
  return (
    <section class="card">
      <Form action={`${path}/syncs`} submit="Save prices and schedule">
        <h2>Prices</h2>
        <Field
          name="markup"
          label="Markup, in percent"
          hint="added to the provider's rates by every sync, by hand or scheduled"
          inputmode="decimal"
          value={markup ?? ""}
        />
        <Area
          name="categories"
          label="Other markups for categories"
          hint={`one in each line, such as Likes = 40, by the name in its list${named === "" ? "" : `: ${named}`}`}
          rows={Math.min(own.length + 2, 10)}
          value={own.map(([category, percent]) => `${category} = ${percent}`).join("\n")}
        />
        <Choice
          name="rounding"
          label="Round prices up"
          hint="a price of 1.1653 as an example; prices set by hand stay"
          value={provider.roundPrices}
          options={PRICE_ROUNDINGS.map((each) => [each, EXAMPLES[each]] as const)}
        />
        <h2>Scheduled syncs</h2>
        <Field
          name="every"
          label="Every"
          hint="such as 6h or 1d; empty: only by hand"
          value={syncEvery === null ? "" : formatDuration(syncEvery)}
        />
        <Field
          name="price-change"
          label="Largest price change, in percent"
          hint="a scheduled sync with a larger change waits for you"
          inputmode="decimal"
          value={syncPriceLimit}
        />
        <Field
          name="deactivated"
          label="Largest number of deactivated services"
          inputmode="numeric"
          value={syncDeactivationLimit}
        />
        <Choice
          name="new"
          label="New services at the provider"
          value={syncNew}
          options={[
            ["public", "are added for every reseller"],
            ["private", "are added for resellers with a grant"],
            ["ignore", "are left out"],
          ]}
        />
        <Box name="readable" label="Make ids from names" checked={provider.readableIds} />
      </Form>
    </section>
  );
}

export async function updateSyncs(submission: Submission): Promise<Redirect> {
  const { form, params } = submission;
  const name = params["provider"]!;
  const given = form.raw("markup");
  const rounding = form.optionalChoice("rounding", PRICE_ROUNDINGS);
  const changes = {
    ...(given === "" ? {} : { markup: requireMarkup(form, "markup") }),
    ...(rounding === null ? {} : { roundPrices: rounding }),
    ...(form.values.has("categories") && { categoryMarkups: await readCategories(submission) }),
    syncEvery: readInterval(form),
    syncPriceLimit: requireMarkup(form, "price-change"),
    syncDeactivationLimit: form.whole("deactivated", 0, SERVICES_LIMIT),
    syncNew: form.choice("new", NEW_SERVICES),
    readableIds: form.isChecked("readable"),
  };
  await submission.submit("updateProvider", { name, changes });
  return { to: `/providers/${name}/prices`, note: "Prices and schedule were saved." };
}

/** Reads the lines with markups of categories. A category that is no longer named loses its markup. */
async function readCategories(submission: Submission): Promise<CategoryMarkupChanges> {
  const { form, params } = submission;
  const provider = await submission.read((reader) => findProvider(reader, params["provider"]!));
  const before = Object.keys(readCategoryMarkups(provider?.categoryMarkups ?? "{}"));
  const changes = new Map<string, string | null>(before.map((category) => [category, null]));
  for (const [index, line] of form.raw("categories").split("\n").entries()) {
    if (line.trim() === "") continue;
    const at = line.lastIndexOf("=");
    const category = CATEGORY.read(line.slice(0, Math.max(at, 0)).trim());
    const percent = MARKUP.read(line.slice(at + 1).trim());
    if ("value" in category && "value" in percent) changes.set(category.value, percent.value);
    else form.addError("categories", `Line ${index + 1} must be a category, = and a percentage`);
  }
  return Object.fromEntries(changes);
}

export function requireMarkup(form: Values, field: string): string {
  return form.required(field, MARKUP, "0");
}

/** Returns the interval in milliseconds, or null if none is given. */
function readInterval(form: Values): number | null {
  return form.optional("every", SYNC_EVERY, SYNC_EVERY_LEAST_MS);
}
