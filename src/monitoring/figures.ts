// The values that the metrics read at each scrape.

import type { RequestFigures } from "../db/orders/order-request-lists.ts";
import type { PaymentFacts } from "../domain/alerts/payment-conditions.ts";
import type { DisabledReason } from "../domain/webhooks/webhook-events.ts";
import type { OrderCounts } from "../reports/status-counter.ts";
import type { Awaitable } from "../db/port/port.ts";

/** Figures of the database; null for a figure that its engine does not have. */
export interface DatabaseFigures {
  databaseBytes(): Awaitable<number | null>;
  walBytes(): number | null;
  diskFreeBytes(): number | null;
}

/** Figures of one provider. */
export interface ProviderFigures {
  name: string;
  /** Number of orders with an unknown submission. */
  unknown: number;
  isPaused: boolean;
  /** Number of orders that wait until it has funds. */
  held: number;
  /** Null if no order placed with the provider is open. */
  oldestUncheckedSeconds: number | null;
}

/** The connections of one listener: API, panel or metrics. */
export interface ConnectionFigures {
  listener: string;
  open: number;
  limit: number;
  /** Connections closed for lack of room: new ones, and waiting ones that made room for a new one. */
  refused: number;
  displaced: number;
}

/** Values that are read at each scrape. */
export interface Figures extends DatabaseFigures {
  queueLength(): number;
  /** Null if there is no verified backup. */
  backupAgeSeconds(): number | null;
  /** 1 if the newest backup is verified, else 0. Null if there is none. */
  backupVerified(): number | null;
  /** Null if no off-site copy is known. */
  remoteBackupAgeSeconds(): number | null;
  /** This and the next figures are null while the database cannot be read. */
  providers(): Awaitable<readonly ProviderFigures[] | null>;
  ordersByStatus(): Promise<OrderCounts | null>;
  /** Age of the oldest event that waits. Null also if none waits. */
  oldestUndeliveredSeconds(): Awaitable<number | null>;
  mailsWaiting(): Awaitable<number | null>;
  disabledWebhooks(): Awaitable<Record<DisabledReason, number> | null>;
  openOrderRequests(): Awaitable<RequestFigures | null>;
  payments(): Awaitable<PaymentFacts | null>;
  /** Number of open alerts by kind. */
  openAlerts(): Awaitable<ReadonlyMap<string, number> | null>;
  connections(): readonly ConnectionFigures[];
  servers(): number;
  lostLogLines(): number;
}
