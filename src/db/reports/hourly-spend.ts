// The spend of resellers in the running hour, from totals that are at most a minute old.

import {
  isUnusual,
  SPEND_LEAST_MICROS,
  type SpendFacts,
  USUAL_DAYS,
} from "../../domain/alerts/spend-conditions.ts";
import { HOUR_MS } from "../../domain/values/spans.ts";
import type { Reader } from "../port/port.ts";
import { query } from "../port/query.ts";
import { bigint, number, numbers, text } from "../port/table-definition.ts";
import { utcDayOf } from "../../domain/values/calendar.ts";

// Looks days up one by one: a range of them would read the totals of every reseller.
const SPENDERS = query({
  parameters: { hour: number, least: number, days: numbers },
  columns: { id: text, username: text, createdAt: number, hourMicros: bigint, totalMicros: bigint },
  text: `SELECT users.id AS "id", users.username AS "username", users.created_at AS "createdAt",
      CAST(spend.charged_micros - spend.refunded_micros AS TEXT) AS "hourMicros",
      (SELECT CAST(CAST(coalesce(sum(revenue_micros - refunds_micros), 0) AS BIGINT) AS TEXT) FROM daily_totals
        WHERE kind = 'reseller' AND day IN (:days) AND key = CAST(spend.account AS TEXT)) AS "totalMicros"
    FROM hourly_spend AS spend JOIN users ON users.account = spend.account
    WHERE spend.hour = :hour AND spend.charged_micros - spend.refunded_micros >= :least
    ORDER BY spend.account`,
});

/** Counts the resellers that spend far more than usual. */
export function countUnusualSpenders(reader: Reader, now: number): number {
  return listSpenders(reader, now).filter((each) => isUnusual(each, now)).length;
}

/** Lists the resellers whose spend of the running hour is large enough to be judged. */
export function listSpenders(reader: Reader, now: number): SpendFacts[] {
  const today = utcDayOf(now);
  return reader.all(SPENDERS, {
    hour: Math.floor(now / HOUR_MS),
    least: SPEND_LEAST_MICROS,
    days: Array.from({ length: USUAL_DAYS + 1 }, (_, back) => today - back),
  });
}
