// What a provider's calls came to lately, for the operator.

import type { AttemptOutcome } from "../domain/deliveries.ts";
import type { Reader } from "./port.ts";
import { query } from "./query.ts";
import { number, textOf } from "./table-definition.ts";

/** Attempts that are looked at, the newest of all providers: 10 ms. */
export const ATTEMPTS_LIMIT = 5000;

const OUTCOMES = query({
  takes: { since: number, limit: number },
  gives: { providerId: number, outcome: textOf<AttemptOutcome>(), attempts: number },
  text: `SELECT provider_id AS "providerId", outcome AS "outcome", count(*) AS "attempts"
    FROM (SELECT provider_id, outcome, started_at FROM placement_attempts ORDER BY attempt_id DESC LIMIT :limit) AS newest
    WHERE started_at >= :since GROUP BY provider_id, outcome`,
});

export interface AttemptCount {
  providerId: number;
  outcome: AttemptOutcome;
  attempts: number;
}

/** Of the newest ATTEMPTS_LIMIT attempts those that began from `since` on, by provider and outcome. */
export function countAttemptsSince(reader: Reader, since: number): AttemptCount[] {
  return reader.all(OUTCOMES, { since, limit: ATTEMPTS_LIMIT });
}
