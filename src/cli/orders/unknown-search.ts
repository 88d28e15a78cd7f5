// `admin order settle --provider NAME`: searches the provider for its unknown orders, shows the evidence, and settles
// those that are likely sent or not sent once the operator confirms.

import { type Order, findOrder } from "../../db/orders/orders.ts";
import type { Reader } from "../../db/port/port.ts";
import type { Provider } from "../../db/providers/providers.ts";
import { usernameOf } from "../../db/users/users.ts";
import { formatMicros, jsonAmount } from "../../domain/ledger/money.ts";
import {
  type Finding,
  shownEvidence,
  verdictCounts,
} from "../../domain/delivery/unknown-matches.ts";
import { counted } from "../../domain/values/text.ts";
import { readDeliveryScene, SEARCHED_LIMIT } from "../../operations/delivery/unknown-scenes.ts";
import { requireProvider } from "../../operations/providers/providers.ts";
import { type NumberSearch, searchNumbers } from "../../providers/number-search.ts";
import { connectProvider } from "../../providers/protocols.ts";
import { CommandFailure, type CommonOptions, withDatabase } from "../kernel/command.ts";
import { confirm, type ConfirmOptions } from "../kernel/confirm.ts";
import { changeOrders } from "../kernel/several-orders.ts";
import { type WindowOptions, windowOf } from "../output/list-pages.ts";
import { ageText, dollars, isoTime, print, printError } from "../output/output.ts";
import { table } from "../output/text-table.ts";
import { neverAborted } from "../providers/provider-call.ts";

export interface SearchOptions extends CommonOptions, ConfirmOptions, WindowOptions {
  nearby: number;
  dryRun?: true;
  providerTimeout: number;
}

/** An unknown order with what was found out about it. */
interface Row {
  order: Order;
  username: string;
  finding: Finding;
  /** The refund if the order is settled as not sent. */
  refundMicros: number;
}

/** Searches the provider, and settles the likely orders unless it is a dry run. */
export async function settleByProvider(name: string, options: SearchOptions): Promise<void> {
  const provider = await withDatabase(options, ({ store }) =>
    store.read((reader) => requireProvider(reader, name)),
  );
  const search = await searchProvider(provider, options);
  const rows = await withDatabase(options, ({ store }) =>
    store.read((reader) => rowsOf(reader, search.findings, options)),
  );
  if (search.failure !== null && search.asked === 0) {
    throw new CommandFailure(
      `provider ${provider.name} could not be asked: ${search.failure}. Nothing was changed; try again`,
    );
  }
  if (options.dryRun || !options.json) printRows(provider, search, rows, options);
  if (options.dryRun) return;
  const likely = rows.filter(({ finding }) => finding.verdict !== "unclear");
  if (likely.length === 0) {
    if (options.json) print(true, [], () => "");
    return;
  }
  await confirm(options, questionOf(likely), "likely by the provider's answers, but not certain");
  const byId = new Map(likely.map((row) => [String(row.order.orderId), row]));
  const done: Row[] = [];
  try {
    await changeOrders(options, [...byId.keys()], async ({ execute }, id) => {
      const row = byId.get(id)!;
      const { refundMicros } = row;
      const { providerOrder } = row.finding;
      const settled = providerOrder === null ? { providerOrder, refundMicros } : { providerOrder };
      const order = await execute("settleOrder", { id, ...settled, isFirst: true });
      done.push(row);
      return order;
    });
  } finally {
    if (!options.json) printError(`${counted(done.length, "order")} settled: ${doneText(done)}`);
  }
}

/** Asks the provider. The database is not kept open while it answers. */
function searchProvider(provider: Provider, options: SearchOptions): Promise<NumberSearch> {
  const { nearby, providerTimeout } = options;
  return searchNumbers(
    connectProvider(provider, providerTimeout),
    (known) => withDatabase(options, ({ store }) => readDeliveryScene(store, provider, known)),
    { nearby, stop: neverAborted(), now: Date.now },
  );
}

/** Returns the findings about orders that were created in the time window, each with its order. */
function rowsOf(reader: Reader, findings: readonly Finding[], options: WindowOptions): Row[] {
  const { from, to } = windowOf(options);
  const rows = reader.each(findings, (finding): Row => {
    const order = findOrder(reader, String(finding.orderId))!;
    const username = usernameOf(reader, order.resellerAccount);
    return { order, username, finding, refundMicros: order.chargeMicros - order.refundedMicros };
  });
  return rows.filter(
    ({ order: { createdAt } }) => createdAt >= (from ?? 0) && createdAt <= (to ?? Infinity),
  );
}

function printRows(
  { name }: Provider,
  { asked, failure, findings, balance }: NumberSearch,
  rows: readonly Row[],
  { json, dryRun }: SearchOptions,
): void {
  const orders = rows.map(jsonOf);
  print(json, { provider: name, asked, failure, balance, orders }, () =>
    table(rows.map(shownOf), `no unknown orders at ${name}`),
  );
  if (json || rows.length === 0) return;
  const counts = verdictCounts(rows.map(({ finding }) => finding.verdict));
  printError(
    `${counted(rows.length, "unknown order")} at ${name}: ${counts}; it was asked about ${counted(asked, "order number")}`,
  );
  for (const text of balance) printError(text);
  if (failure !== null) printError(`${name} was not asked about all numbers: ${failure}`);
  const unclear = rows.filter(({ finding }) => finding.verdict === "unclear").length;
  if (unclear > 0) {
    printError(
      `${counted(unclear, "order")} unclear: look up the link at ${name}, then \`reseller admin order settle ID\``,
    );
  }
  if (findings.length === SEARCHED_LIMIT) {
    printError(
      `only the first ${SEARCHED_LIMIT} unknown orders were searched: repeat it after settling`,
    );
  }
  if (dryRun && unclear < rows.length) {
    printError(
      "nothing was changed: without --dry-run the likely ones are settled, after a confirmation",
    );
  }
}

function shownOf({ order, username, finding }: Row) {
  return {
    order: order.orderId,
    likely: verdictText(finding),
    user: username,
    quantity: order.quantity,
    "charge usd": dollars(order.chargeMicros),
    age: ageText(Date.now() - order.createdAt),
    evidence: shownEvidence(finding).shown.join("; "),
  };
}

function verdictText({ verdict, providerOrder }: Finding): string {
  if (verdict === "sent") return `sent as ${providerOrder}`;
  return verdict === "not_sent" ? "not sent" : "unclear";
}

function jsonOf({ order, username, finding }: Row) {
  const { verdict, providerOrder, candidates, evidence } = finding;
  return {
    orderId: order.orderId,
    id: order.id,
    username,
    service: order.serviceId,
    link: order.link,
    quantity: order.quantity,
    charge: jsonAmount(order.chargeMicros),
    createdAt: isoTime(order.createdAt),
    verdict,
    providerOrder,
    candidates,
    evidence,
  };
}

function questionOf(likely: readonly Row[]): string {
  const { sent, lost, refunded } = sumsOf(likely);
  const refund = `with a refund of ${refunded} USD`;
  if (lost === 0) return `settle ${counted(sent, "order")} as sent`;
  if (sent === 0) return `settle ${counted(lost, "order")} as not sent, ${refund}`;
  return `settle ${counted(sent, "order")} as sent and ${lost} as not sent, ${refund}`;
}

function doneText(done: readonly Row[]): string {
  const { sent, lost, refunded } = sumsOf(done);
  return `${sent} as sent, ${lost} as not sent, ${refunded} USD refunded`;
}

function sumsOf(rows: readonly Row[]): { sent: number; lost: number; refunded: string } {
  const lost = rows.filter(({ finding }) => finding.verdict === "not_sent");
  const micros = lost.reduce((sum, { refundMicros }) => sum + BigInt(refundMicros), 0n);
  return { sent: rows.length - lost.length, lost: lost.length, refunded: formatMicros(micros) };
}
