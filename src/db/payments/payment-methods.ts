// Payment methods, and which resellers may use them. They are few.

import type { Reader } from "../port/port.ts";
import { fields, query, select } from "../port/query.ts";
import { number, text } from "../port/table-definition.ts";
import {
  type PaymentMethodRow,
  paymentMethodResellers,
  paymentMethods,
} from "../tables/payments.ts";

const ALL = query({
  columns: fields(paymentMethods),
  text: `SELECT ${select(paymentMethods)} FROM payment_methods ORDER BY created_at, method_id`,
});

const RESELLERS = query({
  parameters: { methodId: text },
  columns: { account: number, username: text },
  text: `SELECT payment_method_resellers.account AS "account", username AS "username"
    FROM payment_method_resellers JOIN users ON users.account = payment_method_resellers.account
    WHERE method_id = :methodId ORDER BY username`,
});

const OPEN = query({
  parameters: { methodId: text },
  columns: { open: number },
  text: `SELECT count(*) AS "open" FROM payments WHERE method_id = :methodId AND state IN ('created', 'pending')`,
});

const FOLLOWED = query({
  parameters: { methodId: text },
  columns: { followed: number },
  text: `SELECT count(*) AS "followed" FROM payments WHERE method_id = :methodId AND next_read_at IS NOT NULL`,
});

/** Returns a method by its id, if it is not removed. */
export function findMethod(reader: Reader, methodId: string): PaymentMethodRow | undefined {
  const row = reader.row(paymentMethods.byKey, methodId);
  return row?.removedAt === null ? row : undefined;
}

/** All methods that are not removed, the oldest first. */
export function listMethods(reader: Reader): PaymentMethodRow[] {
  return listEveryMethod(reader).filter(({ removedAt }) => removedAt === null);
}

/** All methods, those that were removed too. */
export function listEveryMethod(reader: Reader): PaymentMethodRow[] {
  return reader.all(ALL);
}

/** The methods that a reseller may use now. */
export function listMethodsFor(reader: Reader, account: number): PaymentMethodRow[] {
  return listMethods(reader).filter((method) => mayUseMethod(reader, method, account));
}

export function mayUseMethod(reader: Reader, method: PaymentMethodRow, account: number): boolean {
  if (!method.active) return false;
  if (method.resellers === "all") return true;
  return reader.row(paymentMethodResellers.byKey, method.methodId, account) !== undefined;
}

/** The resellers that are named for a method. */
export function listMethodResellers(reader: Reader, methodId: string) {
  return reader.all(RESELLERS, { methodId });
}

/** Counts the payments of a method that are not ended. */
export function countOpenOfMethod(reader: Reader, methodId: string): number {
  return reader.one(OPEN, { methodId })!.open;
}

/** Counts the payments of a method that are still to be read: open ones, and ended ones, for late money, refunds and disputes. */
export function countFollowedOfMethod(reader: Reader, methodId: string): number {
  return reader.one(FOLLOWED, { methodId })!.followed;
}
