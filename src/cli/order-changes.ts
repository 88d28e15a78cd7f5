// `admin order complete|fail|cancel|refund|partial|late`: an order's status by hand, with what it refunds.

import { type Command, Option } from "commander";
import { findOrder, type Order } from "../db/orders.ts";
import type { Reader } from "../db/port.ts";
import { usernameOf } from "../db/users.ts";
import { refuseOperatorTransition } from "../domain/deliveries.ts";
import { formatMicros } from "../domain/money.ts";
import { decideTransition } from "../domain/order-transitions.ts";
import { attempt, Refusal, refusal } from "../domain/refusals.ts";
import { counted } from "../domain/text.ts";
import { previewLateReport } from "../operations/late-reports.ts";
import { type CommonOptions, declare, withDatabase } from "./command.ts";
import { addMoneyConfirmation, type ConfirmOptions, confirmMoney } from "./confirm.ts";
import { changeOrder } from "./order-output.ts";
import { changeOrders, orderIdsArgument } from "./several-orders.ts";
import { count, note } from "./values.ts";

type Target = "COMPLETED" | "PARTIAL" | "FAILED" | "CANCELLED" | "REFUNDED";
type Verb = "complete" | "fail" | "cancel" | "refund";

const VERBS: Record<Verb, { to: Target; description: string }> = {
  complete: { to: "COMPLETED", description: "mark orders as delivered" },
  fail: { to: "FAILED", description: "mark orders as failed and refund their charges" },
  cancel: { to: "CANCELLED", description: "cancel orders and refund their charges" },
  refund: { to: "REFUNDED", description: "refund what is left of the charges of delivered orders" },
};

const IDS = "orders by either of their ids; each is decided by itself";

interface ChangeOptions extends CommonOptions, ConfirmOptions {
  note?: string;
  publicNote?: string;
}

export function declareOrderChanges(group: Command): void {
  for (const verb of Object.keys(VERBS) as Verb[]) declareTransition(group, verb);
  declarePartial(group);
  declareLate(group);
}

function declareTransition(group: Command, verb: Verb): void {
  const { to, description } = VERBS[verb];
  const command = declare(
    group,
    verb,
    description,
    `reseller admin order ${verb} 12 --note "by mail"`,
  ).argument("<ids...>", IDS, orderIdsArgument);
  (verb === "complete" ? addNote(command) : addNotes(command)).action(
    (ids: string[], options: ChangeOptions) => transition(ids, to, 0, options),
  );
}

function declarePartial(group: Command): void {
  const command = declare(
    group,
    "partial",
    "end deliveries early and refund what remains",
    "reseller admin order partial 12 --remains 157",
  )
    .argument("<ids...>", IDS, orderIdsArgument)
    .addOption(
      new Option(
        "--remains <number>",
        "what was not delivered, 0 to the quantity; of several orders the same",
      )
        .argParser(count)
        .makeOptionMandatory(),
    );
  addNotes(command).action((ids: string[], options: ChangeOptions & { remains: number }) =>
    transition(ids, "PARTIAL", options.remains, options),
  );
}

interface LateOptions extends ChangeOptions {
  accept?: true;
  dismiss?: true;
  remains?: number;
}

function declareLate(group: Command): void {
  const command = declare(
    group,
    "late",
    "decide what a provider reported after an order's end",
    "reseller admin order late 12 --accept",
  )
    .argument("<id>", "either of the order's ids")
    .option("--accept", "the order becomes what was reported, with its refund")
    .addOption(new Option("--dismiss", "the order stays as it is").conflicts("accept"))
    .option(
      "--remains <number>",
      "what remained, where that was not stored with the report",
      count,
    );
  addNotes(command).action(async (id: string, options: LateOptions) => {
    if (!options.accept && !options.dismiss) {
      command.error("error: give --accept or --dismiss; `order show` tells what was reported.");
    }
    if (options.dismiss && (options.publicNote !== undefined || options.remains !== undefined)) {
      command.error("error: --public-note and --remains are for --accept: nothing is refunded.");
    }
    await (options.accept ? accept(id, options) : dismiss(id, options));
  });
}

function dismiss(id: string, options: LateOptions): Promise<void> {
  return changeOrder(options, ({ execute }) =>
    execute("dismissLateReports", { id, note: options.note ?? null }),
  );
}

async function accept(id: string, options: LateOptions): Promise<void> {
  const remains = options.remains ?? null;
  const {
    username,
    report,
    transition: decided,
  } = await withDatabase(options, ({ store }) =>
    store.read((reader) => {
      const preview = previewLateReport(reader, id, remains);
      return { ...preview, username: usernameOf(reader, preview.order.resellerAccount) };
    }),
  );
  const { refundMicros } = decided;
  await confirmMoney(options, refundMicros, refundText({ id, username, refundMicros }));
  await changeOrder(options, ({ execute }) =>
    execute("acceptLateReport", {
      id,
      remains,
      confirmed: { reported: report.reported, refundMicros },
      ...notesOf(options),
    }),
  );
}

async function transition(
  ids: readonly string[],
  to: Target,
  remains: number,
  options: ChangeOptions,
): Promise<void> {
  if (to === "COMPLETED") {
    return changeOrders(options, ids, ({ execute }, id) =>
      execute("transitionOrder", { id, to, note: options.note ?? null }),
    );
  }
  const refunds = await refundsOf(ids, to, remains, options);
  const total = refunds.reduce((sum, { refundMicros }) => sum + refundMicros, 0);
  const [only, ...others] = refunds;
  const what = others.length > 0 ? totalText(refunds.length, total) : refundText(only!);
  await confirmMoney(options, total, what);
  const confirmed = new Map(refunds.map(({ id, refundMicros }) => [id, refundMicros]));
  await changeOrders(options, ids, ({ execute }, id) =>
    execute("transitionOrder", {
      id,
      to,
      remains,
      refundMicros: confirmed.get(id)!,
      ...notesOf(options),
    }),
  );
}

interface Refund {
  id: string;
  username: string;
  refundMicros: number;
}

/** What each would refund now; 0 for one that is refused, so that it refunds nothing that was not confirmed. */
function refundsOf(
  ids: readonly string[],
  to: Target,
  remains: number,
  options: ChangeOptions,
): Promise<Refund[]> {
  return withDatabase(options, ({ store }) =>
    store.read((reader) =>
      reader.each(ids, (id) => {
        const refund = attempt(() => {
          const order = requireOrder(reader, id);
          refuseOperatorTransition(order, to);
          const { refundMicros } = decideTransition(order, to, remains);
          return { id, username: usernameOf(reader, order.resellerAccount), refundMicros };
        });
        return refund instanceof Refusal ? { id, username: "", refundMicros: 0 } : refund;
      }),
    ),
  );
}

function totalText(orders: number, micros: number): string {
  return `refund ${formatMicros(micros)} USD of ${counted(orders, "order")}`;
}

function refundText({ id, username, refundMicros }: Refund): string {
  return `refund ${formatMicros(refundMicros)} USD of order ${id} to ${username}`;
}

function notesOf({ note: own, publicNote }: ChangeOptions) {
  return { note: own ?? null, publicNote: publicNote ?? null };
}

function addNote(command: Command): Command {
  return command.option("--note <text>", "why, for operators alone", note);
}

/** Of a command that may refund. */
export function addNotes(command: Command): Command {
  return addMoneyConfirmation(
    addNote(command).option("--public-note <text>", "shown to the reseller with the refund", note),
  );
}

/** Refuses: order_not_found. */
function requireOrder(reader: Reader, id: string): Order {
  const order = findOrder(reader, id);
  if (!order) throw refusal("order_not_found");
  return order;
}
