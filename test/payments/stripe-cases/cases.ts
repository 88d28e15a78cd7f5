// All cases, by group.

import type { Case, Row } from "./case.ts";
import { DISPUTES } from "./disputes.ts";
import { EVENTS } from "./events.ts";
import { FAULTY_READINGS, READINGS } from "./readings.ts";
import { REFUNDS } from "./refunds.ts";
import { RETURNS } from "./returns.ts";
import { SECOND_MONEY } from "./second-money.ts";
import { SESSIONS } from "./sessions.ts";
import { SIGNATURES } from "./signatures.ts";

function named(group: string, rows: readonly Row[]): Case[] {
  return rows.map(([name, page, run, expected]) => {
    return { name: `${group}: ${name}`, page, run, expected };
  });
}

export const CASES: readonly Case[] = [
  ...named("session", SESSIONS),
  ...named("event", EVENTS),
  ...named("signature", SIGNATURES),
  ...named("reading", READINGS),
  ...named("fault", FAULTY_READINGS),
  ...named("refund", REFUNDS),
  ...named("dispute", DISPUTES),
  ...named("back", RETURNS),
  ...named("second money", SECOND_MONEY),
];
