// Form fields for the terms of a service, new or existing.

/** @jsxImportSource preact */

import { QUANTITY, REFILL_DAYS } from "../../domain/values/kinds.ts";
import type { Service } from "../../db/catalogue/services.ts";
import { formatMicros } from "../../domain/ledger/money.ts";
import { REFILL_DAYS_DEFAULT } from "../../domain/orders/order-requests.ts";
import {
  CATEGORY_LENGTH_LIMIT,
  PRICE_UNITS,
  SERVICE_NAME_LENGTH_LIMIT,
} from "../../domain/catalogue/services.ts";
import {
  DEFAULT_SERVICE_TYPE,
  fitsUnit,
  isPackage,
  mayDripFeed,
  SERVICE_TYPES,
  typeTerms,
} from "../../domain/catalogue/service-types.ts";
import { Choice, Field } from "../../web/components/fields.tsx";
import type { Form as Values } from "../../web/server/form.ts";

const YES_NO = ["no", "yes"] as const;
const yesNo = (flag = false) => (flag ? "yes" : "no");

export const KINDS = ["public", "private"] as const;
/** Shown instead of a provider for a service without one. */
export const BY_HAND = "by hand";

export function unitText(per: Service["per"]): string {
  return per === "order" ? "order" : `${per} units`;
}

/** Fields for the terms of a service. `service`: its present terms. `provider`: the name of its provider. */
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
        hint="the heading under which resellers' panels list it"
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
          name="type"
          label="Type"
          options={SERVICE_TYPES.map((type) => [type, typeTerms(type).words] as const)}
          value={service?.type ?? DEFAULT_SERVICE_TYPE}
        />
        <Choice
          name="dripfeed"
          label="Drip-feed"
          options={[
            ["no", "no"],
            ["yes", "yes: orders may have several runs"],
          ]}
          value={service?.dripfeed ? "yes" : "no"}
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
        <Choice
          name="cancel"
          label="Cancel on request"
          options={YES_NO}
          value={yesNo(service?.cancel)}
        />
        <Choice
          name="refill"
          label="Refill on request"
          options={YES_NO}
          value={yesNo(service?.refill)}
        />
        <Field
          name="refill-days"
          label="Days for a refill"
          inputmode="numeric"
          value={service?.refillDays ?? REFILL_DAYS_DEFAULT}
          required
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
              label="Service id at the provider"
              value={service?.providerService ?? ""}
            />
          </>
        )}
      </div>
    </>
  );
}

/** Reads the fields of TermsFields. */
export function termsOf(form: Values) {
  const name = form.text("name", SERVICE_NAME_LENGTH_LIMIT);
  const category = form.optionalText("category", CATEGORY_LENGTH_LIMIT);
  const priceMicros = form.price("price");
  const per = form.choice("per", PRICE_UNITS);
  const min = form.required("min", QUANTITY, 1);
  const max = form.required("max", QUANTITY, 1);
  if (min > max) form.addError("min", "min must not be above max");
  const typed = typedTermsOf(form, per);
  const isPrivate = form.choice("kind", KINDS) === "private";
  const [cancel, refill] = [
    form.optionalChoice("cancel", YES_NO),
    form.optionalChoice("refill", YES_NO),
  ];
  const refillDays = form.optional("refill-days", REFILL_DAYS, 1);
  const requests = {
    ...(cancel === null ? {} : { cancel: cancel === "yes" }),
    ...(refill === null ? {} : { refill: refill === "yes" }),
    ...(refillDays === null ? {} : { refillDays }),
  };
  const provider = form.optionalIdentifier("provider");
  const service = form.optionalIdentifier("provider-service");
  if (provider !== null && service === null) {
    form.addError("provider-service", "provider service is required");
  }
  if (provider === null && service !== null) form.addError("provider", "provider is required");
  const serviceProvider =
    provider === null || service === null ? null : { name: provider, service };
  const terms = {
    name,
    priceMicros,
    per,
    min,
    max,
    private: isPrivate,
    ...typed,
    ...requests,
  };
  return { terms: category === null ? terms : { ...terms, category }, serviceProvider };
}

/** Returns the fields that were sent. The others stay unchanged. */
function typedTermsOf(form: Values, per: Service["per"]) {
  const type = form.optionalChoice("type", SERVICE_TYPES);
  const fed = form.optionalChoice("dripfeed", ["no", "yes"]);
  if (type !== null && !fitsUnit({ type, per })) {
    form.refuse("per", isPackage(type) ? "order for a package" : "1000 or 1 for this type");
  }
  if (type !== null && fed === "yes" && !mayDripFeed({ type, per })) {
    form.refuse("dripfeed", "no unless the type is Default and the price per 1000 or 1");
  }
  return {
    ...(type === null ? {} : { type }),
    ...(fed === null ? {} : { dripfeed: fed === "yes" }),
  };
}
