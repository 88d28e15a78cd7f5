// A reseller's discount from the catalogue prices.

/** @jsxImportSource preact */

import { DISCOUNT } from "../../domain/values/kinds.ts";
import { countFallingBelowCost } from "../../db/catalogue/service-lists.ts";
import { findUser, type User } from "../../db/users/users.ts";
import { counted } from "../../domain/values/text.ts";
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

/** Asks if the discount would sell services below cost that are not sold so now. */
async function confirmLosses(submission: Submission, username: string, discountPpm: number) {
  const below = await submission.read((reader) => {
    const user = findUser(reader, username);
    return user ? countFallingBelowCost(reader, user, discountPpm) : 0;
  });
  if (below === 0) return;
  await submission.confirm({
    title: `Give ${username} ${discountPercent(discountPpm)} % off`,
    moves: [],
    danger: true,
    details: (
      <p>
        {counted(below, "more service")} would be sold to {username} below cost.
      </p>
    ),
    plan: below,
  });
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
  } else await confirmLosses(submission, username, discountPpm);
  await submission.submit("setDiscount", { username, discountPpm });
  return {
    to: `${userPath(username)}#prices`,
    note: percent === 0 ? "There is no discount now." : `The discount is ${percent} %.`,
  };
}
