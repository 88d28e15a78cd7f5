// `admin order complete|fail|cancel|refund|partial|late`: an order's status by hand, with what it refunds.

import { type Command, Option } from "commander";
import { findOrder, type Order } from "../db/orders.ts";
import type { Reader } from "../db/port.ts";
import { usernameOf } from "../db/users.ts";
import { refuseOperatorTransition } from "../domain/deliveries.ts";
import { formatMicros } from "../domain/money.ts";
import { decideTransition } from "../domain/order-transitions.ts";
import { refusal } from "../domain/refusals.ts";
import { previewLateReport } from "../operations/late-reports.ts";
import { type CommonOptions, declare, withDatabase } from "./command.ts";
import { addMoneyConfirmation, type ConfirmOptions, confirmMoney } from "./confirm.ts";
import { changeOrder } from "./order-output.ts";
import { count, note } from "./values.ts";

type Target = "COMPLETED" | "PARTIAL" | "FAILED" | "CANCELLED" | "REFUNDED";
type Verb = "complete" | "fail" | "cancel" | "refund";

const VERBS: Record<Verb, { to: Target; description: string }> = {
  complete: { to: "COMPLETED", description: "mark an order as delivered" },
  fail: { to: "FAILED", description: "mark an order as failed and refund its charge" },
  cancel: { to: "CANCELLED", description: "cancel an order and refund its charge" },
  refund: { to: "REFUNDED", description: "refund what is left of a delivered order's charge" },
};

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
  ).argument("<id>", "either of the order's ids");
  (verb === "complete" ? addNote(command) : addNotes(command)).action(
    (id: string, options: ChangeOptions) => transition(id, to, 0, options),
  );
}

function declarePartial(group: Command): void {
  const command = declare(
    group,
    "partial",
    "end a delivery early and refund what remains",
    "reseller admin order partial 12 --remains 157",
  )
    .argument("<id>", "either of the order's ids")
    .addOption(
      new Option("--remains <number>", "what was not delivered, 0 to the quantity")
        .argParser(count)
        .makeOptionMandatory(),
    );
  addNotes(command).action((id: string, options: ChangeOptions & { remains: number }) =>
    transition(id, "PARTIAL", options.remains, options),
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
  await confirmMoney(options, refundMicros, refundText(id, username, refundMicros));
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
  id: string,
  to: Target,
  remains: number,
  options: ChangeOptions,
): Promise<void> {
  if (to === "COMPLETED") {
    await changeOrder(options, ({ execute }) =>
      execute("transitionOrder", { id, to, note: options.note ?? null }),
    );
    return;
  }
  const { refundMicros, username } = await withDatabase(options, ({ store }) =>
    store.read((reader) => {
      const order = requireOrder(reader, id);
      refuseOperatorTransition(order, to);
      const decided = decideTransition(order, to, remains);
      return { ...decided, username: usernameOf(reader, order.resellerAccount) };
    }),
  );
  await confirmMoney(options, refundMicros, refundText(id, username, refundMicros));
  await changeOrder(options, ({ execute }) =>
    execute("transitionOrder", { id, to, remains, refundMicros, ...notesOf(options) }),
  );
}

function refundText(id: string, username: string, micros: number): string {
  return `refund ${formatMicros(micros)} USD of order ${id} to ${username}`;
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
    addNote(command).option("--public-note <text>", "told to the reseller with the refund", note),
  );
}

/** Refuses: order_not_found. */
function requireOrder(reader: Reader, id: string): Order {
  const order = findOrder(reader, id);
  if (!order) throw refusal("order_not_found");
  return order;
}
