// How invoices are issued: the owner's form.

/** @jsxImportSource preact */

import { discountPercent } from "../../domain/catalogue/prices.ts";
import { INVOICE_MODES, INVOICE_PREFIX, TAX_ID, TAX_TEXT } from "../../domain/ledger/invoices.ts";
import { DISCOUNT, FIRST_NUMBER } from "../../domain/values/kinds.ts";
import type { InvoiceSettings } from "../../db/tables/invoices.ts";
import type { Submission } from "../server/call.ts";
import { Facts } from "../../web/components/lists.tsx";
import { Typed } from "../../web/components/shown.tsx";
import type { Redirect } from "../../web/server/results.ts";
import { Choice, Field, Fold, Form } from "../../web/components/fields.tsx";

const ACTION = "/invoicing";
const MODES = [
  ["off", "no invoices"],
  ["credit", "each credit"],
  ["month", "a reseller’s credits of a month"],
] as const;

export function InvoiceSettingsForm({ settings }: { settings: InvoiceSettings }) {
  return (
    <Fold action={ACTION} summary="How invoices are issued">
      <section class="card narrow-card">
        <Form action={ACTION} submit="Save">
          <Choice name="for" label="One invoice for" options={MODES} value={settings.mode} />
          <Facts
            facts={[
              ["Your legal name", <Typed text={settings.sellerName || null} />],
              [
                "Your address",
                <Typed text={settings.sellerAddress.replaceAll("\n", ", ") || null} />,
              ],
            ]}
          />
          <p class="hint">
            The settings <code>--legal-name</code> and <code>--legal-address</code> of the server.
          </p>
          <Field name="tax-id" label="Your tax number" value={settings.sellerTaxId} />
          <div class="pair">
            <Field
              name="tax"
              label="Tax in percent"
              inputmode="decimal"
              hint="every credit includes it"
              value={discountPercent(settings.taxPpm)}
            />
            <Field
              name="tax-text"
              label="Name of the tax"
              hint="or why there is none, such as reverse charge"
              value={settings.taxText}
            />
          </div>
          <div class="pair">
            <Field
              name="prefix"
              label="Text before the number"
              hint="a new one begins a new series"
              value={settings.prefix}
            />
            <Field
              name="next-number"
              label="Next number"
              inputmode="numeric"
              value={settings.nextNumber}
            />
          </div>
        </Form>
      </section>
    </Fold>
  );
}

export async function setInvoicing(submission: Submission): Promise<Redirect> {
  const { form } = submission;
  const changes = {
    mode: form.choice("for", INVOICE_MODES),
    sellerTaxId: form.optional("tax-id", TAX_ID, "") ?? "",
    taxPpm: form.optional("tax", DISCOUNT, 0) ?? 0,
    taxText: form.optional("tax-text", TAX_TEXT, "") ?? "",
    prefix: form.optional("prefix", INVOICE_PREFIX, "") ?? "",
    nextNumber: form.optional("next-number", FIRST_NUMBER, 1) ?? undefined,
  };
  form.check();
  const { nextNumber, ...others } = changes;
  await submission.submit("setInvoicing", {
    changes: { ...others, ...(nextNumber === undefined ? {} : { nextNumber }) },
  });
  return { to: "/invoices", note: "Saved." };
}
