// Settles the ticked unknown orders of a provider, each as chosen, after a confirmation with counts and money. The
// provider is asked for the chosen numbers first.

/** @jsxImportSource preact */

import { findOrder, type Order } from "../../db/orders/orders.ts";
import type { Provider } from "../../db/providers/providers.ts";
import { usernameOf } from "../../db/users/users.ts";
import { NEARBY_LIMIT } from "../../domain/delivery/number-ranges.ts";
import { attempt, Refusal } from "../../domain/values/error-table.ts";
import { counted } from "../../domain/values/text.ts";
import { requireSettleable } from "../../operations/delivery/unknown-settlement.ts";
import { askNumbers } from "../../providers/number-search.ts";
import { List } from "../../web/components/lists.tsx";
import { Badge, Money, moneyText } from "../../web/components/shown.tsx";
import type { Form as Values } from "../../web/server/form.ts";
import type { Redirect, View } from "../../web/server/results.ts";
import { shownRefusal } from "../../web/server/refusals.ts";
import type { Submission } from "../server/call.ts";
import type { Panel } from "../server/panel.ts";
import { requireProvider } from "./provider.tsx";
import { BOXES, NOT_SENT, searchView, SENT, settlementField } from "./unknown-orders.tsx";
import { isProviderOrder } from "../../domain/delivery/deliveries.ts";

/** Number of orders that are settled concurrently. */
const AT_ONCE = 10;
/** Limit for the refusals that the note names. */
const NAMED_LIMIT = 3;

interface Choice {
  id: string;
  /** The number at the provider; null: it was not sent. */
  providerOrder: string | null;
}

interface Plan extends Choice {
  order: Order;
  username: string;
  refundMicros: number;
}

export async function settleUnknown(
  submission: Submission,
  panel: Panel,
): Promise<Redirect | View> {
  const { form, params } = submission;
  const nearby = form.whole("nearby", 1, NEARBY_LIMIT);
  const choices = readChoices(form);
  const provider = await submission.read((reader) => requireProvider(reader, params["provider"]!));
  if (form.errors.size === 0) await checkNumbers(form, panel, provider, choices);
  const plans = await readPlans(submission, provider, choices);
  if (form.errors.size === 0 && plans.length === 0) {
    form.addError("", "None of the selected orders is unknown any more");
  }
  // The evidence is not stored, so the provider is asked again.
  if (form.errors.size > 0) return searchView(submission, panel, nearby, form);
  const lost = plans.filter(({ providerOrder }) => providerOrder === null);
  const sent = plans.length - lost.length;
  const refunds = new Map<string, number>();
  for (const { username, refundMicros } of lost) {
    refunds.set(username, (refunds.get(username) ?? 0) + refundMicros);
  }
  await submission.confirm({
    title: `Settle ${counted(plans.length, "order")}: ${sent} as sent, ${lost.length} as not sent`,
    moves: [...refunds].map(([account, micros]) => ({ account, micros })),
    danger: lost.length > 0,
    details: <Plans plans={plans} left={choices.length - plans.length} />,
  });
  return {
    to: `/providers/${provider.name}/unknown`,
    ...(await settle(submission, plans, choices.length)),
  };
}

/** Reads what was ticked, with its choice. */
function readChoices(form: Values): Choice[] {
  const ids = [...new Set(BOXES.flatMap((name) => form.all(name)))];
  if (ids.length === 0) form.addError("", "Select at least one order");
  const choices = ids.flatMap((id): Choice[] => {
    const value = form.raw(settlementField(id));
    if (value === NOT_SENT) return [{ id, providerOrder: null }];
    const providerOrder = value.startsWith(SENT) ? value.slice(SENT.length) : "";
    if (isProviderOrder(providerOrder)) return [{ id, providerOrder }];
    form.addError(settlementField(id), `Choose how order ${id} is settled`);
    return [];
  });
  for (const [providerOrder, same] of Map.groupBy(choices, (choice) => choice.providerOrder)) {
    if (providerOrder === null || same.length === 1) continue;
    const orders = same.map(({ id }) => id).join(" and ");
    form.addError("", `Orders ${orders} cannot both be ${providerOrder} at the provider`);
  }
  return choices;
}

/** Asks the provider for the chosen numbers. Adds an error for each that it does not know. */
async function checkNumbers(
  form: Values,
  panel: Panel,
  provider: Provider,
  choices: readonly Choice[],
): Promise<void> {
  const numbers = choices.flatMap(({ providerOrder }) => providerOrder ?? []);
  const stop = new AbortController().signal;
  const { answers, failure } = await askNumbers(panel.connect(provider), numbers, stop);
  if (failure !== null) return form.addError("", `${provider.name} could not be asked: ${failure}`);
  for (const { id, providerOrder } of choices) {
    const report = providerOrder === null ? null : answers.get(providerOrder);
    if (providerOrder === null || report?.word != null) continue;
    const problem = report?.isUnrecognized ? "does not know" : "gave no answer about";
    form.addError(settlementField(id), `${provider.name} ${problem} ${providerOrder}`);
  }
}

/** Reads what settling does to each order. Orders that are not unknown any more are left out. */
function readPlans(
  submission: Submission,
  { providerId }: Provider,
  choices: readonly Choice[],
): Promise<Plan[]> {
  return submission.read((reader) => {
    const plans = reader.each(choices, (choice): Plan | null => {
      const order = findOrder(reader, choice.id);
      if (!order) return null;
      const username = usernameOf(reader, order.resellerAccount);
      // Without a number, because a settled number is not to be corrected here.
      const unknown = attempt(() => requireSettleable(reader, choice.id, null));
      if (unknown instanceof Refusal || unknown.delivery.providerId !== providerId) return null;
      return {
        ...choice,
        order,
        username,
        refundMicros: order.chargeMicros - order.refundedMicros,
      };
    });
    return plans.filter((plan) => plan !== null);
  });
}

/** Settles each order by itself. Returns the note about it, and its colour. `chosen`: number of the ticked orders. */
async function settle(
  submission: Submission,
  plans: readonly Plan[],
  chosen: number,
): Promise<Pick<Redirect, "note" | "tone">> {
  const done: Plan[] = [];
  const refused: string[] = [];
  const settleOne = async (plan: Plan): Promise<void> => {
    const { id, providerOrder, refundMicros } = plan;
    const settled = providerOrder === null ? { providerOrder, refundMicros } : { providerOrder };
    try {
      await submission.submit("settleOrder", { id, ...settled, isFirst: true });
      done.push(plan);
    } catch (error) {
      if (!(error instanceof Refusal) || error.code === "service_unavailable") throw error;
      refused.push(`order ${id}: ${shownRefusal(error, new Set()).message}`);
    }
  };
  for (let index = 0; index < plans.length; index += AT_ONCE) {
    await Promise.all(plans.slice(index, index + AT_ONCE).map(settleOne));
  }
  const lost = done.filter(({ providerOrder }) => providerOrder === null);
  const micros = lost.reduce((sum, { refundMicros }) => sum + BigInt(refundMicros), 0n);
  const named = refused.slice(0, NAMED_LIMIT).join("; ");
  const note = [
    `${counted(done.length, "order")} settled: ${done.length - lost.length} as sent,`,
    `${lost.length} as not sent, ${moneyText(micros)} USD refunded.`,
    ...(refused.length > 0 ? [`${counted(refused.length, "order")} not settled: ${named}.`] : []),
  ].join(" ");
  return { note, tone: done.length === 0 ? "bad" : done.length < chosen ? "busy" : "good" };
}

function Plans({ plans, left }: { plans: readonly Plan[]; left: number }) {
  return (
    <>
      {left > 0 && (
        <p class="notice busy">
          {counted(left, "order")} of the selected are not unknown any more and stay as they are.
        </p>
      )}
      <List
        caption="The selected orders"
        rows={plans}
        empty=""
        columns={[
          { heading: "Order", cell: ({ id }) => <a href={`/orders/${id}`}>{id}</a> },
          { heading: "Reseller", cell: ({ username }) => username },
          {
            heading: "Then",
            cell: ({ providerOrder }) =>
              providerOrder === null ? (
                <Badge state="FAILED" />
              ) : (
                <>
                  <Badge state="PROCESSING" /> as {providerOrder}
                </>
              ),
          },
          {
            heading: "Refund USD",
            number: true,
            cell: ({ providerOrder, refundMicros }) => (
              <Money micros={providerOrder === null ? refundMicros : 0} />
            ),
          },
        ]}
      />
    </>
  );
}
