// The facts that `doctor` reads from the rows of a database with the current schema.

import { CREDIT_KEYS, UNLIMITED_CREDIT_KEYS } from "../users/keys.ts";
import { KEYS_TO_ROTATE } from "../imports/imports.ts";
import { LIVE_ORDER_CONDITION, UNKNOWN_PLACEMENTS } from "../orders/orders.ts";
import { OLDEST_DUE_POLL } from "../delivery/polling.ts";
import { LAST_ROW_COLUMNS, LAST_ROW_TIMES, lastRowAt } from "../reports/last-row.ts";
import { readMailFacts } from "../mails/mails.ts";
import { listSurplusFacts } from "../payments/payment-surpluses.ts";
import { readPaymentFacts } from "../payments/payments.ts";
import { listSpenders } from "../reports/hourly-spend.ts";
import type { MailFacts } from "../../domain/alerts/mail-conditions.ts";
import type { PaymentFacts, SurplusFacts } from "../../domain/alerts/payment-conditions.ts";
import type { SpendFacts } from "../../domain/alerts/spend-conditions.ts";
import type { Reader } from "./port.ts";
import { query } from "./query.ts";
import { nullable, number } from "./table-definition.ts";
import { UNRECOGNIZED_NUMBERS } from "../delivery/unrecognized-numbers.ts";
import { FAILED_WEBHOOKS } from "../webhooks/webhook-figures.ts";

export interface RowFacts {
  /** The latest time of a transfer, order or user, in milliseconds since 1970; null if there is none. */
  lastRowAt: number | null;
  /** Number of PENDING orders whose submission is unknown. */
  unknownPlacements: number;
  /** Number of open orders whose provider does not know their number. */
  unrecognizedNumbers: number;
  /** When the first poll is due: in the future if none is overdue; null if no poll is scheduled. */
  oldestDuePollAt: number | null;
  /** Number of webhook endpoints that were disabled because they failed. */
  failedWebhooks: number;
  /** Number of usable keys that can add credit to a user. */
  creditKeys: number;
  /** Number of those keys that can add it to any user without a daily limit. */
  unlimitedCreditKeys: number;
  /** Number of keys of another panel that still work and were not rotated. */
  keysToRotate: number;
  /** Resellers whose spend of the running hour is judged. */
  spenders: SpendFacts[];
  payments: PaymentFacts;
  surpluses: SurplusFacts[];
  mails: MailFacts;
}

const FACTS = query({
  columns: {
    ...LAST_ROW_COLUMNS,
    unknownPlacements: number,
    unrecognizedNumbers: number,
    oldestDuePollAt: nullable(number),
    failedWebhooks: number,
    creditKeys: number,
    unlimitedCreditKeys: number,
    keysToRotate: number,
  },
  text: `SELECT
    ${LAST_ROW_TIMES},
    (${UNKNOWN_PLACEMENTS}) AS "unknownPlacements",
    (${UNRECOGNIZED_NUMBERS}) AS "unrecognizedNumbers",
    (${OLDEST_DUE_POLL} AND ${LIVE_ORDER_CONDITION}) AS "oldestDuePollAt",
    (${FAILED_WEBHOOKS}) AS "failedWebhooks",
    (${CREDIT_KEYS}) AS "creditKeys",
    (${UNLIMITED_CREDIT_KEYS}) AS "unlimitedCreditKeys",
    (${KEYS_TO_ROTATE}) AS "keysToRotate"`,
});

export function readRowFacts(reader: Reader, now: number): RowFacts {
  const { lastTransferAt, lastOrderAt, lastUserAt, ...facts } = reader.one(FACTS)!;
  return {
    lastRowAt: lastRowAt({ lastTransferAt, lastOrderAt, lastUserAt }),
    ...facts,
    spenders: listSpenders(reader, now),
    payments: readPaymentFacts(reader),
    surpluses: listSurplusFacts(reader),
    mails: readMailFacts(reader, now),
  };
}
