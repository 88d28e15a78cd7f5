// A reseller's discount from the catalogue prices.

/** @jsxImportSource preact */

import { DISCOUNT } from "../../domain/values/kinds.ts";
import type { User } from "../../db/users/users.ts";
import { discountPercent, FULL_DISCOUNT_PPM } from "../../domain/catalogue/prices.ts";
import type { Submission } from "../server/call.ts";
import type { Redirect } from "../../web/server/results.ts";
import { Field, Form } from "../../web/components/fields.tsx";
import { userPath } from "./shown-user.ts";

/** Form for the discount. `path`: path of the user. */
export function Discount({ user, path }: { user: User; path: string }) {
  return (
    <Form action={`${path}/discount`} submit="Save the discount">
      <Field
        name="percent"
        label="Discount in percent"
        inputmode="decimal"
        hint="off catalogue prices, rounded up to a millionth of a dollar; own prices do not change"
        value={discountPercent(user.discountPpm)}
      />
    </Form>
  );
}

export async function setDiscount(submission: Submission): Promise<Redirect> {
  const { form } = submission;
  const username = submission.params["user"]!;
  const discountPpm = form.required("percent", DISCOUNT, 0);
  form.check();
  const percent = discountPercent(discountPpm);
  if (discountPpm === FULL_DISCOUNT_PPM) {
    await submission.confirm({
      title: `Give ${username} 100 % off`,
      moves: [],
      danger: true,
      details: <p>Its new orders will cost nothing.</p>,
    });
  }
  await submission.submit("setDiscount", { username, discountPpm });
  return {
    to: `${userPath(username)}#prices`,
    note: percent === 0 ? "There is no discount now." : `The discount is ${percent} %.`,
  };
}
