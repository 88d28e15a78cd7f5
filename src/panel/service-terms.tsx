// The fields of what a service is sold as, of a new one and of one that is there.

/** @jsxImportSource preact */

import type { Service } from "../db/services.ts";
import { formatMicros } from "../domain/money.ts";
import { QUANTITY_LIMIT } from "../domain/orders.ts";
import {
  CATEGORY_LENGTH_LIMIT,
  PRICE_UNITS,
  SERVICE_NAME_LENGTH_LIMIT,
} from "../domain/services.ts";
import { Choice, Field } from "./fields.tsx";
import type { Form as Values } from "./form.ts";

export const KINDS = ["public", "private"] as const;
/** Of a service without a provider. */
export const BY_HAND = "by hand";

export function unitText(per: Service["per"]): string {
  return per === "order" ? "order" : `${per} units`;
}

/** What a service is sold as. `service`: as it is now, `provider`: the name of its provider. */
export function TermsFields({
  service,
  provider = "",
  names,
}: {
  service?: Service;
  provider?: string;
  names: readonly string[];
}) {
  return (
    <>
      <Field name="name" label="Name" value={service?.name ?? ""} required />
      <Field
        name="category"
        label="Category"
        hint="where panels of resellers list it"
        value={service?.category ?? ""}
        required={service !== undefined}
      />
      <div class="pair">
        <Field
          name="price"
          label="Price in USD"
          inputmode="decimal"
          value={service ? formatMicros(service.priceMicros) : ""}
          required
        />
        <Choice
          name="per"
          label="Per"
          options={PRICE_UNITS.map((unit) => [unit, unitText(unit)] as const)}
          value={service?.per ?? "1000"}
        />
        <Field
          name="min"
          label="Smallest order"
          inputmode="numeric"
          value={service?.min ?? ""}
          required
        />
        <Field
          name="max"
          label="Largest order"
          inputmode="numeric"
          value={service?.max ?? ""}
          required
        />
        <Choice
          name="kind"
          label="Open to"
          options={[
            ["public", "every reseller"],
            ["private", "resellers with a grant"],
          ]}
          value={service?.private ? "private" : "public"}
        />
        {names.length > 0 && (
          <>
            <Choice
              name="provider"
              label="Provider"
              options={names}
              value={provider}
              any={BY_HAND}
            />
            <Field
              name="provider-service"
              label="Its id at the provider"
              value={service?.providerService ?? ""}
            />
          </>
        )}
      </div>
    </>
  );
}

/** The fields of TermsFields. */
export function termsOf(form: Values) {
  const name = form.text("name", SERVICE_NAME_LENGTH_LIMIT);
  const category = form.optionalText("category", CATEGORY_LENGTH_LIMIT);
  const priceMicros = form.price("price");
  const per = form.choice("per", PRICE_UNITS);
  const min = form.whole("min", 1, QUANTITY_LIMIT);
  const max = form.whole("max", 1, QUANTITY_LIMIT);
  if (min > max) form.note("min", "min must not be above max");
  const isPrivate = form.choice("kind", KINDS) === "private";
  const provider = form.optionalIdentifier("provider");
  const service = form.optionalIdentifier("provider-service");
  if (provider !== null && service === null) {
    form.note("provider-service", "provider service is required");
  }
  if (provider === null && service !== null) form.note("provider", "provider is required");
  const link = provider === null || service === null ? null : { name: provider, service };
  const terms = { name, priceMicros, per, min, max, private: isPrivate };
  return { terms: category === null ? terms : { ...terms, category }, link };
}
