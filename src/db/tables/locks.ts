// The account locks under which rows are written. A lock is always the row of an account: the user's own account for
// rows of that user, cash or sales for all others.

import { CASH_ACCOUNT, SALES_ACCOUNT } from "../../domain/ledger/ledger.ts";

/** The lock of the tables that operators change (services, grants, providers), and of new users. */
export const CATALOGUE_LOCK = CASH_ACCOUNT;

/**
 * The lock of the queues of webhooks and e-mails. Taking deliveries and recording attempts never waits for a reseller's
 * orders.
 */
export const OUTBOX_LOCK = SALES_ACCOUNT;

/** Returns the lock of a table whose rows are all written under CATALOGUE_LOCK. */
export const catalogueLock = () => CATALOGUE_LOCK;
