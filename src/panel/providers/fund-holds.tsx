// What happens to orders that a provider refuses for lack of funds: they are refunded, or held until it has some.

/** @jsxImportSource preact */

import { AMOUNT, HOLD_FOR } from "../../domain/values/kinds.ts";
import { formatMicros } from "../../domain/ledger/money.ts";
import {
  HOLD_DEFAULT_MICROS,
  HOLD_DEFAULT_MS,
  NO_FUNDS_ACTIONS,
} from "../../domain/providers/fund-holds.ts";
import { counted } from "../../domain/values/text.ts";
import { formatDuration } from "../../domain/values/units.ts";
import type { HeldOrders } from "../../db/delivery/held-orders.ts";
import type { Provider } from "../../db/providers/providers.ts";
import { expectedCurrency } from "../../domain/delivery/costs.ts";
import type { Submission } from "../server/call.ts";
import type { Redirect } from "../../web/server/results.ts";
import { Choice, Field, Form } from "../../web/components/fields.tsx";

export function HoldForm({ provider, path }: { provider: Provider; path: string }) {
  const { onNoFunds, holdMs, holdLimitMicros } = provider;
  return (
    <section class="card">
      <Form action={`${path}/hold`} submit="Save what happens">
        <h2>Without funds there</h2>
        <Choice
          name="action"
          label="Orders that no other route takes"
          value={onNoFunds}
          options={[
            ["refund", "are refunded"],
            ["hold", "wait until the provider has funds"],
          ]}
        />
        <div class="pair">
          <Field
            name="for"
            label="Longest wait"
            hint="after the creation of the order, such as 24h"
            value={formatDuration(holdMs)}
            required
          />
          <Field
            name="limit"
            label="Limit for all waiting orders, in USD"
            inputmode="decimal"
            hint="their charges together; further orders are refunded"
            value={formatMicros(holdLimitMicros)}
            required
          />
        </div>
      </Form>
    </section>
  );
}

/** What waits for funds at a provider, and what ends that. */
export function Held({ provider, held }: { provider: Provider; held: HeldOrders }) {
  const { orders, chargeMicros, cost } = held;
  const { name } = provider;
  const currency = expectedCurrency(provider) ?? "";
  return (
    <>
      It lacks funds:{" "}
      <a href={`/orders?status=PENDING&placement=queued&provider=${name}`}>
        {counted(orders, "order")}
      </a>{" "}
      for {formatMicros(chargeMicros)} USD {orders === 1 ? "waits" : "wait"}.{" "}
      {cost !== null && `${`${cost} ${currency}`.trim()} is needed there. `}
      They are sent once it reports a balance that covers the first one, or when it is resumed.
    </>
  );
}

export async function updateHold(submission: Submission): Promise<Redirect> {
  const { form, params } = submission;
  const name = params["provider"]!;
  const changes = {
    onNoFunds: form.choice("action", NO_FUNDS_ACTIONS),
    holdMs: form.required("for", HOLD_FOR, HOLD_DEFAULT_MS),
    holdLimitMicros: form.required("limit", AMOUNT, HOLD_DEFAULT_MICROS),
  };
  form.check();
  await submission.submit("updateProvider", { name, changes });
  return { to: `/providers/${name}/settings`, note: "What happens without funds was saved." };
}
