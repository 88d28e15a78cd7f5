// Recent outcomes of submission attempts by provider, for the operator.

import type { AttemptOutcome } from "../../domain/delivery/deliveries.ts";
import type { Reader } from "../port/port.ts";
import { query } from "../port/query.ts";
import { number, textOf } from "../port/table-definition.ts";

/** How many of the newest attempts are examined, over all providers. Examining them takes 10 ms. */
export const ATTEMPTS_LIMIT = 5000;

const OUTCOMES = query({
  parameters: { since: number, limit: number },
  columns: { providerId: number, outcome: textOf<AttemptOutcome>(), attempts: number },
  text: `SELECT provider_id AS "providerId", outcome AS "outcome", count(*) AS "attempts"
    FROM (SELECT provider_id, outcome, started_at FROM attempts ORDER BY attempt_id DESC LIMIT :limit) AS newest
    WHERE started_at >= :since GROUP BY provider_id, outcome`,
});

export interface AttemptCount {
  providerId: number;
  outcome: AttemptOutcome;
  attempts: number;
}

/** Counts attempts since `since` by provider and outcome. Only the newest ATTEMPTS_LIMIT attempts are examined. */
export function countAttemptsSince(reader: Reader, since: number): AttemptCount[] {
  return reader.all(OUTCOMES, { since, limit: ATTEMPTS_LIMIT });
}
