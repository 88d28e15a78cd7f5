// To whom a reseller's invoices are made out.

/** @jsxImportSource preact */

import { discountPercent } from "../../domain/catalogue/prices.ts";
import { ADDRESS, PARTY_NAME, TAX_ID, TAX_TEXT } from "../../domain/ledger/invoices.ts";
import { DISCOUNT } from "../../domain/values/kinds.ts";
import type { BillingDetails } from "../../db/tables/invoices.ts";
import type { Submission } from "../server/call.ts";
import type { Redirect } from "../../web/server/results.ts";
import { Area, Field, Form } from "../../web/components/fields.tsx";
import { userPath } from "./shown-user.ts";

/** Form for the details. `path`: path of the user. */
export function Billing({ billing, path }: { billing: BillingDetails | null; path: string }) {
  return (
    <Form action={`${path}/billing`} submit="Save">
      <h2 id="billing">Billing details</h2>
      <Field
        name="legal-name"
        label="Legal name"
        hint="empty: invoices are made out to the user’s name, with your tax"
        value={billing?.name ?? ""}
      />
      <Area name="address" label="Address" value={billing?.address ?? ""} rows={3} />
      <Field name="tax-id" label="Tax number" value={billing?.taxId ?? ""} />
      <div class="pair">
        <Field
          name="tax"
          label="Tax in percent"
          inputmode="decimal"
          hint="empty: yours"
          value={billing?.taxPpm == null ? "" : discountPercent(billing.taxPpm)}
        />
        <Field
          name="tax-text"
          label="Name of the tax"
          hint="or why there is none"
          value={billing?.taxText ?? ""}
        />
      </div>
    </Form>
  );
}

export async function setBilling(submission: Submission): Promise<Redirect> {
  const { form } = submission;
  const username = submission.params["user"]!;
  const name = form.optional("legal-name", PARTY_NAME, "");
  const address = form.optional("address", ADDRESS, "") ?? "";
  const taxId = form.optional("tax-id", TAX_ID, "") ?? "";
  const taxPpm = form.optional("tax", DISCOUNT, 0);
  const taxText = form.optional("tax-text", TAX_TEXT, "");
  const isGiven = address !== "" || taxId !== "" || taxPpm !== null || taxText !== null;
  if (name === null && isGiven) form.addError("legal-name", "legal name is required");
  if (taxPpm === null && taxText !== null) form.addError("tax", "tax is required");
  form.check();
  const billing = name === null ? null : { name, address, taxId, taxPpm, taxText };
  await submission.submit("setBilling", { username, billing });
  const to = `${userPath(username)}#billing`;
  return { to, note: billing ? "The billing details are saved." : "There are none now." };
}
