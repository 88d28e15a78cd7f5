// Imports orders of another panel under their numbers there. Those that ended become past orders, which move no money.
// An open one becomes an order here. The user gets a credit equal to its charge, and pays the charge with it. So the
// ledger has the charge that a later refund gives back. docs/specification/imports.md#imported-orders.

import { openingReferenceOf } from "../../domain/imports/opening.ts";
import type { RowOutcome } from "../../domain/imports/import-problems.ts";
import { type Actor, cashAccount, salesAccount } from "../../domain/ledger/ledger.ts";
import type { OrderStatus } from "../../domain/orders/order-statuses.ts";
import { isPastStatus } from "../../domain/orders/past-orders.ts";
import { postTransfer } from "../../db/ledger/ledger.ts";
import { findPanelImport, highestOrderNumber, timesAround } from "../../db/imports/imports.ts";
import type { Reader, Tx } from "../../db/port/port.ts";
import { findProvider, type Provider } from "../../db/providers/providers.ts";
import type { Service } from "../../db/catalogue/services.ts";
import { services } from "../../db/tables/catalogue.ts";
import { attempts } from "../../db/tables/delivery.ts";
import { importedUsers, pastOrders } from "../../db/tables/imports.ts";
import { type OrderRow, orders } from "../../db/tables/orders.ts";
import type { Context } from "../batch/context.ts";

export interface ImportedOrder {
  /** Its number in the other panel. */
  orderId: number;
  /** Its user's id there. */
  source: string;
  serviceNumber: number;
  serviceName: string;
  link: string;
  quantity: number;
  chargeMicros: number;
  /** PROCESSING: it is open. */
  status: Exclude<OrderStatus, "PENDING">;
  startCount: number;
  remains: number;
  createdAt: number;
  /** The id of its provider in the other panel, and the provider's number for it. */
  provider: string | null;
  providerOrder: string | null;
  /** For an open order that a provider delivers: the name of the provider here, and its id for the service. */
  deliveredBy: { name: string; service: string | null } | null;
}

/** What an open order needs of the catalogue. */
interface OpenTerms {
  service: Service | undefined;
  provider: Provider | undefined;
  providerService: string | null;
}

/** Says what an import would do with each row now. A user that is not here yet counts as imported. */
export function planOrders(reader: Reader, rows: readonly ImportedOrder[]): RowOutcome[] {
  const through = findPanelImport(reader)?.ordersThrough ?? 0;
  const highest = highestOrderNumber(reader);
  const isClosed = highest > through;
  return reader.each(rows, (row): RowOutcome => {
    const { orderId, status } = row;
    const past = reader.row(pastOrders.byKey, orderId);
    const order = reader.row(orders.byKey, orderId);
    if (past ?? order) {
      if (order && orderId > through) return "order_number_taken";
      const owner = reader.row(importedUsers.byKey, row.source)?.account;
      return isSameOrder(row, (past ?? order)!, owner) ? "same" : "order_differs";
    }
    // Only imported orders may have numbers below those that were placed here.
    if (isClosed && orderId > through) return "order_number_late";
    if (isPastStatus(status)) return "new";
    const { service, provider, providerService } = openTerms(reader, row);
    if (row.deliveredBy !== null && !provider) return "provider_unknown";
    if (!service) return "service_missing";
    return provider && providerService === null ? "provider_service_missing" : "new";
  });
}

function openTerms(reader: Reader, { serviceNumber, deliveredBy }: ImportedOrder): OpenTerms {
  const service = reader.row(services.byNumber, serviceNumber);
  const provider = deliveredBy ? findProvider(reader, deliveredBy.name) : undefined;
  const isLinked = provider !== undefined && service?.providerId === provider.providerId;
  const linked = isLinked ? service.providerService : null;
  return { service, provider, providerService: deliveredBy?.service ?? linked };
}

/** Compares what never changes after an import: an order may have ended since, or its link been corrected or erased. */
function isSameOrder(
  row: ImportedOrder,
  found: Pick<OrderRow, "resellerAccount" | "quantity" | "chargeMicros">,
  owner: number | undefined,
): boolean {
  return (
    found.resellerAccount === owner &&
    found.quantity === row.quantity &&
    found.chargeMicros === row.chargeMicros
  );
}

export interface ImportOrders {
  orders: readonly ImportedOrder[];
  actor: Actor;
}

/** Writes the orders that are new. Their users must have been imported. Returns what was done with each row. */
export function importOrders(tx: Tx, command: ImportOrders, context: Context): RowOutcome[] {
  const { orders: rows, actor } = command;
  const outcomes = planOrders(tx, rows);
  const owners = tx.each(rows, ({ source }) => tx.row(importedUsers.byKey, source)?.account);
  const isNewOpen = (row: ImportedOrder, index: number) =>
    outcomes[index] === "new" && !isPastStatus(row.status);
  const open = tx.each(rows, (row, index) =>
    isNewOpen(row, index) ? { ...openTerms(tx, row), times: timesAround(tx, row.orderId) } : null,
  );
  // Nothing is refused from here on.
  let previous = 0;
  // A file may have any order. Times grow with the numbers.
  const byNumber = [...rows.keys()].toSorted(
    (one, other) => rows[one]!.orderId - rows[other]!.orderId,
  );
  for (const index of byNumber) {
    if (outcomes[index] !== "new") continue;
    const row = rows[index]!;
    const account = owners[index];
    if (account === undefined) throw new Error(`user ${row.source} of the other panel is missing`);
    const terms = open[index];
    if (!terms) {
      insertPast(tx, row, account);
      continue;
    }
    const { before, after } = terms.times;
    const earliest = Math.max(previous, before ?? 0);
    // Times of orders grow with their numbers, which lists by time rely on.
    previous = Math.min(Math.max(row.createdAt, earliest), after ?? context.now);
    insertOpen(tx, { ...row, createdAt: previous }, { account, actor, ...terms }, context);
  }
  return outcomes;
}

function insertPast(tx: Tx, row: ImportedOrder, resellerAccount: number): void {
  const { orderId, serviceNumber, serviceName, link, quantity, chargeMicros, startCount } = row;
  const { remains, createdAt, provider, providerOrder, status } = row;
  if (!isPastStatus(status)) throw new Error(`order ${orderId} is open`);
  tx.insert(pastOrders, {
    orderId,
    resellerAccount,
    serviceNumber,
    serviceName,
    link,
    quantity,
    chargeMicros,
    status,
    startCount,
    remains,
    createdAt,
    provider,
    providerOrder,
  });
}

const TAKEN_OVER_CAUSE = "placed by another panel, which gave its number";

function insertOpen(
  tx: Tx,
  row: ImportedOrder,
  terms: OpenTerms & { account: number; actor: Actor },
  context: Context,
): void {
  const { account, actor, service, provider, providerService } = terms;
  const { orderId, chargeMicros, createdAt, providerOrder } = row;
  const { now } = context;
  if (!service) throw new Error(`service ${row.serviceNumber} is missing`);
  const route =
    provider && providerService !== null
      ? { providerId: provider.providerId, providerService }
      : null;
  const delivery = {
    placement: "placed" as const,
    providerOrder,
    nextPollAt: now,
    polledAt: now,
    changedAt: now,
  };
  tx.insert(orders, {
    orderId,
    id: context.createId(),
    resellerAccount: account,
    serviceId: service.id,
    serviceName: service.name,
    // The price of the whole order, whatever the service costs now.
    priceMicros: chargeMicros,
    per: "order",
    link: row.link,
    quantity: row.quantity,
    chargeMicros,
    status: "PROCESSING",
    startCount: row.startCount,
    remains: row.remains,
    createdAt,
    ...(route ? { ...route, ...delivery } : { placement: "manual" as const }),
  });
  const transfer = { amountMicros: chargeMicros, actor, note: null, createdAt: now };
  postTransfer(tx, {
    ...transfer,
    debitAccount: cashAccount(false),
    creditAccount: account,
    kind: "adjustment",
    orderId: null,
    reference: openingReferenceOf(orderId),
  });
  postTransfer(tx, {
    ...transfer,
    debitAccount: account,
    creditAccount: salesAccount(false),
    kind: "order",
    orderId,
  });
  if (!route) return;
  // As after a settlement by the operator, the number can be corrected until the provider reports.
  const times = { startedAt: createdAt, finishedAt: createdAt };
  tx.insert(attempts, { ...route, ...times, orderId, outcome: "unknown", cause: TAKEN_OVER_CAUSE });
}
