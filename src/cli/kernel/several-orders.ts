// Changes several orders by one command line. Each is changed and committed separately, one after another, and a
// refusal does not stop the rest, as in kubectl and systemctl. The same command line may be repeated safely, because no
// transition leads from a state to itself.

import type { Awaitable } from "../../db/port/port.ts";
import type { Order } from "../../db/orders/orders.ts";
import { Refusal, sentenceOf } from "../../domain/values/error-table.ts";
import {
  asFailure,
  CommandFailure,
  type CommonOptions,
  type Session,
  withDatabase,
} from "./command.ts";
import { databaseOf } from "./database-name.ts";
import { changedOrder, changeOrder, type NamedOrder, orderJson } from "../orders/order-output.ts";
import { dollars, print } from "../output/output.ts";
import { table } from "../output/text-table.ts";

type Outcome = { id: string; order: NamedOrder } | { id: string; code: string; message: string };

export const ORDER_IDS = "orders, by number or id; each is processed separately";

/** Parses order numbers and ids, also separated by commas. Duplicates are removed. */
export function orderIdsArgument(text: string, before: readonly string[] = []): string[] {
  return [...new Set([...before, ...text.split(",").map((id) => id.trim())])];
}

/** Changes orders and prints them: a single order as `order show` does, several as a table of results. */
export async function changeOrders(
  options: CommonOptions,
  ids: readonly string[],
  change: (session: Session, id: string) => Awaitable<Order>,
): Promise<void> {
  if (ids.length === 1) return changeOrder(options, (session) => change(session, ids[0]!));
  const outcomes: Outcome[] = [];
  try {
    await withDatabase(options, async (session) => {
      for (const id of ids) outcomes.push(await outcomeOf(options, session, id, change));
    });
  } finally {
    // Completed changes are printed even if the loop ended with an error.
    if (outcomes.length > 0)
      print(options.json, outcomes.map(outcomeJson), () => outcomeTable(outcomes));
  }
  const refused = outcomes.filter((outcome) => !("order" in outcome)).length;
  if (refused === 0) return;
  throw new CommandFailure(
    `${refused} of ${outcomes.length} orders were not changed, see above${refused < outcomes.length ? "; the others were" : ""}`,
    "orders_not_changed",
  );
}

/** Changes one order and returns its outcome. Throws internal errors. */
async function outcomeOf(
  options: CommonOptions,
  session: Session,
  id: string,
  change: (session: Session, id: string) => Awaitable<Order>,
): Promise<Outcome> {
  try {
    return { id, order: await changedOrder(session, () => change(session, id)) };
  } catch (error) {
    if (error instanceof Refusal) return { id, code: error.code, message: sentenceOf(error) };
    const failure = asFailure(error, databaseOf(options));
    if (!(failure instanceof CommandFailure)) throw error;
    return { id, code: failure.code, message: failure.message };
  }
}

function outcomeJson(outcome: Outcome) {
  if (!("order" in outcome)) return { ...outcome, done: false };
  return { id: outcome.id, done: true, order: orderJson(outcome.order) };
}

function outcomeTable(outcomes: readonly Outcome[]): string {
  return table(
    outcomes.map((outcome) => {
      const order = "order" in outcome ? outcome.order : null;
      return {
        order: order?.orderId ?? outcome.id,
        done: order !== null,
        status: order?.status ?? null,
        "charge usd": order && dollars(order.chargeMicros),
        "refunded usd": order && dollars(order.refundedMicros),
        why: "message" in outcome ? outcome.message : null,
      };
    }),
    "",
  );
}
