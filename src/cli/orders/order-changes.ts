// `admin order complete|fail|cancel|refund|partial|late`: changes the status of orders by hand, and refunds them.

import type { OperatorTarget } from "../../domain/orders/order-statuses.ts";
import { type Command, Option } from "commander";
import { settingOption } from "../../config/flags.ts";
import { findOrder, type Order } from "../../db/orders/orders.ts";
import type { Reader } from "../../db/port/port.ts";
import { usernameOf } from "../../db/users/users.ts";
import { refuseOperatorTransition } from "../../domain/delivery/deliveries.ts";
import { formatMicros } from "../../domain/ledger/money.ts";
import { decideTransition } from "../../domain/orders/order-transitions.ts";
import { attempt, Refusal, refusal } from "../../domain/values/error-table.ts";
import { counted } from "../../domain/values/text.ts";
import { previewLateReport } from "../../operations/orders/late-reports.ts";
import {
  agreedNote,
  findRunning,
  refusedText,
  type RunningDelivery,
  runningText,
} from "../../operations/orders/order-cancellation.ts";
import { decideOperatorTransition } from "../../operations/orders/orders.ts";
import { connectProvider } from "../../providers/protocols.ts";
import { CommandFailure, type CommonOptions, declare, withDatabase } from "../kernel/command.ts";
import { addMoneyConfirmation, type ConfirmOptions, confirmMoney } from "../kernel/confirm.ts";
import { changeOrder } from "./order-output.ts";
import { printError } from "../output/output.ts";
import { neverAborted } from "../providers/provider-call.ts";
import { changeOrders, ORDER_IDS, orderIdsArgument } from "../kernel/several-orders.ts";
import { count, note } from "../kernel/values.ts";

type Verb = "complete" | "fail" | "cancel" | "refund";

const VERBS: Record<Verb, { to: OperatorTarget; description: string }> = {
  complete: { to: "COMPLETED", description: "mark orders as delivered" },
  fail: { to: "FAILED", description: "mark orders as failed and refund their charges" },
  cancel: { to: "CANCELLED", description: "cancel orders and refund their charges" },
  refund: { to: "REFUNDED", description: "refund the remaining charges of delivered orders" },
};

interface ChangeOptions extends CommonOptions, ConfirmOptions {
  note?: string;
  publicNote?: string;
  /** Only for `cancel`. */
  ask?: boolean;
  providerTimeout?: number;
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
  ).argument("<ids...>", ORDER_IDS, orderIdsArgument);
  if (verb === "cancel") {
    command
      .option("--no-ask", "do not ask the order's provider to cancel it")
      .addOption(settingOption("provider-timeout"));
  }
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
    .argument("<ids...>", ORDER_IDS, orderIdsArgument)
    .addOption(
      new Option(
        "--remains <number>",
        "undelivered quantity, 0 to the order's quantity; the same for all given orders",
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
    "accept or dismiss a provider's report that came after an order's end",
    "reseller admin order late 12 --accept",
  )
    .argument("<id>", "the order, by number or id")
    .option("--accept", "apply the reported status and its refund")
    .addOption(new Option("--dismiss", "leave the order unchanged").conflicts("accept"))
    .option(
      "--remains <number>",
      "remaining quantity, if it was not stored with the report",
      count,
    );
  addNotes(command).action(async (id: string, options: LateOptions) => {
    if (!options.accept && !options.dismiss) {
      command.error("error: give --accept or --dismiss; see the report with `order show`.");
    }
    if (options.dismiss && (options.publicNote !== undefined || options.remains !== undefined)) {
      command.error("error: --public-note and --remains can only be used with --accept.");
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
  to: OperatorTarget,
  remains: number,
  options: ChangeOptions,
): Promise<void> {
  if (to === "COMPLETED") {
    return changeOrders(options, ids, ({ execute }, id) =>
      execute("transitionOrder", { id, to, note: options.note ?? null }),
    );
  }
  const refunds = await refundsOf(ids, to, remains, options);
  const running = refunds.flatMap((each) => each.running ?? []);
  const asks = to === "CANCELLED" && options.ask !== false;
  printRunningNotes(options, asks, running);
  const confirmed = await confirmRefunds(options, refunds);
  await changeOrders(options, ids, async ({ store, execute }, id) => {
    const notes = notesOf(options);
    const found = await store.read((reader) => {
      const order = findOrder(reader, id);
      return order && { order, running: findRunning(reader, order) };
    });
    const refundMicros = confirmed.get(id)!;
    let { note } = notes;
    if (asks && found?.running?.cancel === "may") {
      // Makes every check before the provider is asked, because a request to the provider cannot be undone.
      decideOperatorTransition(found.order, { to, remains, refundMicros, ...notes });
      note = await ask(found.order, found.running, options);
    }
    return execute("transitionOrder", { id, to, remains, refundMicros, ...notes, note });
  });
}

/**
 * Asks the provider to cancel. Returns the note with the provider's reply. Throws CommandFailure unless the provider
 * agrees.
 */
async function ask(
  { orderId, link }: Order,
  { provider, providerOrder }: RunningDelivery,
  { note: own, providerTimeout }: ChangeOptions,
): Promise<string> {
  const api = connectProvider(provider, providerTimeout!);
  const request = { providerOrder: providerOrder!, requestId: 0, link };
  const refused = refusedText(provider.name, await api.cancel(request, neverAborted()));
  if (refused !== null) {
    throw new CommandFailure(
      `order ${orderId}: ${refused}: nothing was changed; use --no-ask to cancel it here anyway`,
    );
  }
  return agreedNote(own ?? null, provider.name);
}

/** Prints on stderr, before the confirmation, what ending the orders here means at their providers. */
function printRunningNotes(
  { json }: ChangeOptions,
  asks: boolean,
  running: readonly { orderId: number; running: RunningDelivery }[],
): void {
  if (json) return;
  for (const each of running) {
    const text = runningText(each.running, asks && each.running.cancel === "may");
    printError(`order ${each.orderId}: ${text}`);
  }
}

export interface Refund {
  id: string;
  username: string;
  refundMicros: number;
}

/** Asks for one confirmation of all refunds together. Returns the refund of each order. */
export async function confirmRefunds(
  options: ConfirmOptions,
  refunds: readonly Refund[],
): Promise<Map<string, number>> {
  const total = refunds.reduce((sum, { refundMicros }) => sum + refundMicros, 0);
  const [only, ...others] = refunds;
  const what = others.length > 0 ? totalText(refunds.length, total) : refundText(only!);
  await confirmMoney(options, total, what);
  return new Map(refunds.map(({ id, refundMicros }) => [id, refundMicros]));
}

interface RunningRefund extends Refund {
  running?: { orderId: number; running: RunningDelivery } | null;
}

/**
 * Returns what each order would refund now. An order that cannot be changed now gets 0. If it can be changed a moment
 * later, the change is refused anyway, because its refund was not confirmed.
 */
function refundsOf(
  ids: readonly string[],
  to: OperatorTarget,
  remains: number,
  options: ChangeOptions,
): Promise<RunningRefund[]> {
  return withDatabase(options, ({ store }) =>
    store.read((reader) =>
      reader.each(ids, (id) => {
        const refund = attempt(() => {
          const order = requireOrder(reader, id);
          refuseOperatorTransition(order, to);
          const { refundMicros } = decideTransition(order, to, remains);
          const username = usernameOf(reader, order.resellerAccount);
          const found = to === "REFUNDED" ? null : findRunning(reader, order);
          const running = found && { orderId: order.orderId, running: found };
          return { id, username, refundMicros, running };
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
  return command.option("--note <text>", "note for operators; the user never sees it", note);
}

/** Adds the options for notes and confirmation to a command that may refund. */
export function addNotes(command: Command): Command {
  return addMoneyConfirmation(
    addNote(command).option(
      "--public-note <text>",
      "note shown to the reseller with the refund",
      note,
    ),
  );
}

/** Returns the order. Refuses: order_not_found. */
function requireOrder(reader: Reader, id: string): Order {
  const order = findOrder(reader, id);
  if (!order) throw refusal("order_not_found");
  return order;
}
