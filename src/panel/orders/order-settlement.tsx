// Settles an order whose submission is unknown, and corrects its number. The provider is asked first.

/** @jsxImportSource preact */

import { failureText } from "../providers/call-failures.ts";
import { PROVIDER_ORDER } from "../../domain/values/kinds.ts";
import type { UnrecognizedNumber } from "../../db/delivery/unrecognized-numbers.ts";
import type { Order } from "../../db/orders/orders.ts";
import { getProvider } from "../../db/providers/providers.ts";
import { usernameOf } from "../../db/users/users.ts";
import { isTestOrder } from "../../domain/orders/sandbox.ts";
import { requireSettleable } from "../../operations/delivery/unknown-settlement.ts";
import { checkOrder } from "../../providers/order-check.ts";
import { ProviderFailure } from "../../providers/provider.ts";
import type { Submission } from "../server/call.ts";
import type { Panel } from "../server/panel.ts";
import type { Redirect } from "../../web/server/results.ts";
import { Box, Field, Form } from "../../web/components/fields.tsx";
import { moneyText, StateChange, Typed } from "../../web/components/shown.tsx";

/** Form for the settlement. `isCorrection`: the order was settled before, and its number is to be corrected. */
export function Settlement({ order, isCorrection }: { order: Order; isCorrection: boolean }) {
  return (
    <Form action={`/orders/${order.orderId}/settle`}>
      <h2>{isCorrection ? "Correct its number" : "Settle"}</h2>
      <Field
        name="provider-order"
        label="Its number at the provider"
        inputmode="numeric"
        hint="if the provider has the order; the server asks the provider about this number"
      />
      <Box name="unchecked" label="Accept the number without asking the provider" />
      <p class="actions">
        <button class="primary" name="settlement" value="placed">
          The provider has it: follow it
        </button>
        {!isCorrection && (
          <button name="settlement" value="not-placed">
            The provider never had it: refund {moneyText(order.chargeMicros - order.refundedMicros)}{" "}
            USD
          </button>
        )}
      </p>
    </Form>
  );
}

/** Ends an unknown order as not placed, after a confirmation. */
export function NeverPlaced({
  order: { orderId, chargeMicros, refundedMicros },
}: {
  order: Pick<Order, "orderId" | "chargeMicros" | "refundedMicros">;
}) {
  return (
    <Form action={`/orders/${orderId}/settle`} hidden={{ settlement: "not-placed" }}>
      <button>
        Refund {moneyText(chargeMicros - refundedMicros)} USD
        <span class="hidden"> for order {orderId}</span>
      </button>
    </Form>
  );
}

export function Unrecognized({ found, provider }: { found: UnrecognizedNumber; provider: string }) {
  return (
    <p class="notice bad">
      {provider} does not know {found.providerOrder} (<Typed text={failureText(found.cause)} />
      ): look the number up there and correct it here, or end the order.
    </p>
  );
}

export async function settleOrder(submission: Submission, panel: Panel): Promise<Redirect> {
  const { form } = submission;
  const settlement = form.choice("settlement", ["placed", "not-placed"]);
  const providerOrder =
    settlement === "placed" ? form.required("provider-order", PROVIDER_ORDER, "") : null;
  form.check();
  const { order, provider, username } = await submission.read((reader) => {
    const found = requireSettleable(reader, submission.params["order"]!, providerOrder);
    const { resellerAccount, delivery } = found;
    const names = { username: usernameOf(reader, resellerAccount) };
    return { order: found, provider: getProvider(reader, delivery.providerId), ...names };
  });
  const id = String(order.orderId);
  const to = `/orders/${id}`;
  if (providerOrder !== null) {
    const isBelieved = form.isChecked("unchecked") || isTestOrder(order);
    if (!isBelieved) await ask(submission, panel, provider, providerOrder);
    await submission.submit("settleOrder", { id, providerOrder });
    return { to, note: `Order ${id} is now polled as ${providerOrder}.` };
  }
  const micros = order.chargeMicros - order.refundedMicros;
  await submission.confirm({
    title: `Settle order ${id} as not placed`,
    moves: micros === 0 ? [] : [{ account: username, micros }],
    danger: true,
    details: (
      <p>
        <StateChange from={order.status} to="FAILED" />. It will not be sent again.
      </p>
    ),
  });
  await submission.submit("settleOrder", { id, providerOrder: null });
  return { to, note: `Order ${id} has failed, ${moneyText(micros)} USD refunded.` };
}

/** Asks the provider for the order. Throws FormError unless the provider knows the number. */
async function ask(
  { form }: Submission,
  panel: Panel,
  provider: ReturnType<typeof getProvider>,
  providerOrder: string,
): Promise<void> {
  try {
    const stop = new AbortController().signal;
    const found = await checkOrder(panel.connect(provider), providerOrder, stop);
    if ("unknown" in found) {
      form.addError("provider-order", `${provider.name} does not know it: ${found.unknown}`);
    }
  } catch (error) {
    if (!(error instanceof ProviderFailure)) throw error;
    form.addError("provider-order", `${provider.name} could not be asked: ${error.message}`);
  }
  form.check();
}
