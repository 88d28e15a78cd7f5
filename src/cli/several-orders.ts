// A change of orders by one command line. Of several each is decided and committed by itself, as kubectl and systemctl do:
// docs/decisions/0068-several-orders-each-by-itself.md.

import type { Awaitable } from "../db/port.ts";
import type { Order } from "../db/orders.ts";
import { Refusal } from "../domain/refusals.ts";
import {
  asFailure,
  CommandFailure,
  type CommonOptions,
  type Session,
  withDatabase,
} from "./command.ts";
import { databaseOf } from "./database-name.ts";
import { sentenceOf } from "./errors.ts";
import { changedOrder, changeOrder, type NamedOrder, orderJson } from "./order-output.ts";
import { dollars, print } from "./output.ts";
import { table } from "./text-table.ts";

type Outcome = { id: string; order: NamedOrder } | { id: string; code: string; message: string };

/** Order numbers and ids, also separated by commas. Given twice, an order is changed once. */
export function orderIdsArgument(text: string, before: readonly string[] = []): string[] {
  return [...new Set([...before, ...text.split(",").map((id) => id.trim())])];
}

/** One order is printed as `order show` does; of several, what became of each. */
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
    // What was done is printed, whatever ended the loop.
    if (outcomes.length > 0)
      print(options.json, outcomes.map(outcomeJson), () => outcomeTable(outcomes));
  }
  const refused = outcomes.filter((outcome) => !("order" in outcome)).length;
  if (refused === 0) return;
  throw new CommandFailure(
    `${refused} of ${outcomes.length} orders were not changed, for the reasons given${refused < outcomes.length ? "; the others were" : ""}`,
    "orders_not_changed",
  );
}

/** Throws internal errors. */
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
