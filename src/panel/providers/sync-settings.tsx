// Settings of syncs of a provider's services into the catalogue: the markup, and scheduled syncs within limits.

/** @jsxImportSource preact */

import { MARKUP, SYNC_EVERY } from "../../domain/values/kinds.ts";
import type { Provider } from "../../db/providers/providers.ts";
import { NEW_SERVICES, SYNC_EVERY_LEAST_MS } from "../../domain/providers/providers.ts";
import { formatDuration } from "../../domain/values/units.ts";
import type { Submission } from "../server/call.ts";
import type { Redirect } from "../../web/server/results.ts";
import { Box, Choice, Field, Form } from "../../web/components/fields.tsx";
import type { Form as Values } from "../../web/server/form.ts";

const SERVICES_LIMIT = 1_000_000_000;

export function SyncSettings({ provider, path }: { provider: Provider; path: string }) {
  const { markup, syncEvery, syncPriceLimit, syncDeactivationLimit, syncNew } = provider;
  return (
    <section class="card">
      <Form action={`${path}/syncs`} submit="Save the schedule">
        <h2>Scheduled syncs</h2>
        <Field
          name="markup"
          label="Markup, in percent"
          hint="added to the provider's rates by every sync, by hand or scheduled"
          inputmode="decimal"
          value={markup ?? ""}
        />
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
  const changes = {
    ...(given === "" ? {} : { markup: requireMarkup(form, "markup") }),
    syncEvery: readInterval(form),
    syncPriceLimit: requireMarkup(form, "price-change"),
    syncDeactivationLimit: form.whole("deactivated", 0, SERVICES_LIMIT),
    syncNew: form.choice("new", NEW_SERVICES),
    readableIds: form.isChecked("readable"),
  };
  await submission.submit("updateProvider", { name, changes });
  return { to: `/providers/${name}`, note: "The schedule was saved." };
}

export function requireMarkup(form: Values, field: string): string {
  return form.required(field, MARKUP, "0");
}

/** Returns the interval in milliseconds, or null if none is given. */
function readInterval(form: Values): number | null {
  return form.optional("every", SYNC_EVERY, SYNC_EVERY_LEAST_MS);
}
