// Ends an order that a provider delivers: warns of what the provider may still do, and asks it to cancel.

/** @jsxImportSource preact */

import {
  agreedNote,
  refusedText,
  type RunningDelivery,
  runningText,
} from "../../operations/orders/order-cancellation.ts";
import type { Submission } from "../server/call.ts";
import type { Panel } from "../server/panel.ts";
import { Box } from "../../web/components/fields.tsx";
import type { OperatorTarget } from "../../domain/orders/order-statuses.ts";

const UNASKED = "unasked";

/** Returns whether the provider will be asked. */
function asks(running: RunningDelivery, to: OperatorTarget): boolean {
  return to === "CANCELLED" && running.cancel === "may";
}

/** Notices for the orders to be ended. `running`: their deliveries. */
export function Running({
  running,
  to,
}: {
  running: readonly RunningDelivery[];
  to: OperatorTarget;
}) {
  const texts = new Set(running.map((each) => runningText(each, asks(each, to))));
  return (
    <>
      {[...texts].map((text) => (
        <p class="notice busy">{text}</p>
      ))}
      {running.some((each) => asks(each, to)) && (
        <Box name={UNASKED} label="End it here without asking the provider" />
      )}
    </>
  );
}

/** What ending an order means at its provider, said before it is chosen. */
export function Warnings({ running, to }: { running: RunningDelivery | null; to: OperatorTarget }) {
  if (running === null || to === "COMPLETED") return null;
  return <p class="notice busy">{runningText(running, asks(running, to))}</p>;
}

/** Asks the provider to cancel, if it can be asked. After `refused` the order must not be changed. */
export async function askToCancel(
  { form }: Submission,
  panel: Panel,
  { running, to, link }: { running: RunningDelivery | null; to: OperatorTarget; link: string },
  note: string | null,
): Promise<{ note: string | null } | { refused: string }> {
  if (running === null || !asks(running, to) || form.isChecked(UNASKED)) return { note };
  const { provider, providerOrder } = running;
  const request = { providerOrder: providerOrder!, requestId: 0, link };
  const stop = new AbortController().signal;
  const refused = refusedText(provider.name, await panel.connect(provider).cancel(request, stop));
  return refused === null ? { note: agreedNote(note, provider.name) } : { refused };
}
