// Writes the audit entry of a change, in the transaction of the change.

import { type AuditAction, type AuditFacts, diffFacts } from "../../domain/administrators/audit.ts";
import type { Actor } from "../../domain/ledger/ledger.ts";
import { insertAuditEntry } from "../../db/administrators/audit.ts";
import type { Tx } from "../../db/port/port.ts";
import type { Order } from "../../db/orders/orders.ts";
import type { Service } from "../../db/catalogue/services.ts";
import type { Context } from "./context.ts";

export interface AuditedChange {
  actor: Actor;
  action: AuditAction;
  subject: string;
  account: number | null;
  /** Null: it was created. */
  before: AuditFacts | null;
  /** Null: it was deleted. */
  after: AuditFacts | null;
}

/**
 * Writes an entry if something changed. Changes by a server itself are not audited, only those of operators and
 * keys.
 */
export function audit(tx: Tx, context: Context, change: AuditedChange): void {
  const { actor, action, subject, account } = change;
  if (actor.keyId === null && actor.operator === null) return;
  const diff = diffFacts(change.before, change.after);
  if (!diff) return;
  insertAuditEntry(tx, {
    createdAt: context.now,
    keyId: actor.keyId,
    operator: actor.operator,
    action,
    subject,
    account,
    ...diff,
  });
}

export function auditService(
  tx: Tx,
  context: Context,
  actor: Actor,
  action: AuditAction,
  before: Service | null,
  after: Service | null,
): void {
  audit(tx, context, {
    actor,
    action,
    subject: (after ?? before)!.id,
    account: null,
    before: before && serviceFacts(before),
    after: after && serviceFacts(after),
  });
}

function serviceFacts(service: Service): AuditFacts {
  const { number, name, category, priceMicros, per, min, max, active, private: hidden } = service;
  const { providerId, providerService, type, dripfeed, cancel, refill, refillDays } = service;
  const terms = { number, name, category, priceMicros, per, min, max, active, private: hidden };
  const requests = { cancel, refill, refillDays };
  return { ...terms, providerId, providerService, type, dripfeed, ...requests };
}

/** Returns the fields of an order that the audit log records. */
export function orderFacts({ status, startCount, remains, refundedMicros }: Order): AuditFacts {
  return { status, startCount, remains, refundedMicros };
}
