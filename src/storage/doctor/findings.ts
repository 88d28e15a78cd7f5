// The findings of `doctor` that do not depend on the engine of the database, and their type.

import type { RowFacts } from "../../db/port/row-facts.ts";
import {
  type Condition,
  conditionsOf,
  type Rules,
  type Severity,
} from "../../domain/alerts/conditions.ts";
import { NUMBER_RULES, ORDER_RULES } from "../../domain/alerts/provider-conditions.ts";
import { MAIL_RULES } from "../../domain/alerts/mail-conditions.ts";
import { PAYMENT_RULES, SURPLUS_RULES } from "../../domain/alerts/payment-conditions.ts";
import { SPEND_RULES } from "../../domain/alerts/spend-conditions.ts";
import {
  IMPORTED_KEY_RULES,
  KEY_RULES,
  MACHINE_RULES,
  WEBHOOK_RULES,
} from "../../domain/alerts/machine-conditions.ts";

export type State = "ok" | "warn" | "fail";

export interface Finding {
  check: string;
  state: State;
  found: string;
  /** Empty when there is nothing to do. */
  advice: string;
}

export function finding(check: string, state: State, found: string, advice = ""): Finding {
  return { check, state, found, advice };
}

const STATES: Record<Severity, State> = { failure: "fail", problem: "warn", note: "warn" };

/** Returns the finding of a check from what it measured: `ok`, or the text of its worst condition. */
export function judged(check: string, measured: string, conditions: readonly Condition[]): Finding {
  const worst = conditions.find(({ severity }) => severity === "failure") ?? conditions[0];
  if (worst === undefined) return finding(check, "ok", measured);
  const { severity, text, advice } = worst;
  return finding(check, STATES[severity], measured === "" ? text : `${text} (${measured})`, advice);
}

/** Returns the findings about the rows of a database of either engine. */
export function rowFindings(facts: RowFacts, now: number): Finding[] {
  const { lastRowAt, oldestDuePollAt: pollDueAt, failedWebhooks: disabled } = facts;
  const { unknownPlacements: unknown, unrecognizedNumbers: count, creditKeys } = facts;
  const lateMs = pollDueAt === null ? 0 : now - pollDueAt;
  const written =
    lastRowAt === null ? "nothing has been written yet" : `last row ${isoOf(lastRowAt)}`;
  const placements = { name: null, unknown, pollDueAt: null };
  const polls = { name: null, unknown: 0, pollDueAt };
  const failed = { username: null, id: null, disabled, failing: 0, failingSince: null };
  const judge = <Facts>(check: string, measured: string, rules: Rules<Facts>, about: Facts) =>
    judged(check, measured, conditionsOf(rules, about, now));
  const spends = facts.spenders.flatMap((each) => conditionsOf(SPEND_RULES, each, now));
  const surpluses = facts.surpluses.flatMap((each) => conditionsOf(SURPLUS_RULES, each, now));
  const unlessNone = (none: string, found: number) => (found === 0 ? none : "");
  return [
    judge("clock", `now ${isoOf(now)}, ${written}`, MACHINE_RULES, { lastRowAt }),
    judge("unknown placements", unlessNone("none", unknown), ORDER_RULES, placements),
    judge(
      "unknown numbers",
      unlessNone("providers recognize all their order numbers", count),
      NUMBER_RULES,
      { name: null, count, orders: [] },
    ),
    judge(
      "oldest unchecked order",
      pollDueAt === null
        ? "none waits"
        : lateMs <= 0
          ? "none is late"
          : `${Math.round(lateMs / 1000)} s late`,
      ORDER_RULES,
      polls,
    ),
    judge("webhooks", unlessNone("none disabled after failures", disabled), WEBHOOK_RULES, failed),
    judge(
      "keys that add credit",
      creditKeys === 0
        ? "none"
        : facts.unlimitedCreditKeys > 0
          ? ""
          : `${creditKeys}, limited to a daily amount or to child users`,
      KEY_RULES,
      facts,
    ),
    judge("imported keys", unlessNone("none", facts.keysToRotate), IMPORTED_KEY_RULES, facts),
    judge(
      "payments",
      facts.payments.waiting + facts.payments.reversed === 0 ? "none waits for a decision" : "",
      PAYMENT_RULES,
      facts.payments,
    ),
    judge("e-mails", "sent, none failed in the last day", MAIL_RULES, facts.mails),
    judged("surpluses of payments", unlessNone("none", surpluses.length), surpluses),
    judged("spend of resellers", unlessNone("none is unusual", spends.length), spends),
  ];
}

function isoOf(time: number): string {
  return new Date(time).toISOString();
}
