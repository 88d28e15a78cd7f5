// The table of errors, called refusals: a code for each reason to refuse a request. The list is closed. The entry of a
// code has the messages of the API, the panel and the command line, the HTTP status and the text under /api/v2. Rules
// and operations throw Refusal, and each interface turns it into a response; on the command line that is exit 1.
// Anything else that is thrown is an internal error, which is logged and not shown.

import { ADMINISTRATOR_REFUSALS } from "../administrators/refusals.ts";
import { CATALOGUE_REFUSALS } from "../catalogue/refusals.ts";
import { IMPORT_REFUSALS } from "../imports/refusals.ts";
import { LEDGER_REFUSALS } from "../ledger/refusals.ts";
import { MAIL_REFUSALS } from "../mails/refusals.ts";
import { MEMBER_REFUSALS } from "../members/refusals.ts";
import { ORDER_REFUSALS } from "../orders/refusals.ts";
import { PAYMENT_REFUSALS } from "../payments/refusals.ts";
import { PROVIDER_REFUSALS } from "../providers/refusals.ts";
import { USER_REFUSALS } from "../users/refusals.ts";
import { WEBHOOK_REFUSALS } from "../webhooks/refusals.ts";
import type { RefusalEntry, RefusalText } from "./refusal-entry.ts";
import { REQUEST_REFUSALS } from "./request-refusals.ts";

/** The entries by code. Responses, the log and metrics have the same code. */
export const REFUSALS = {
  ...REQUEST_REFUSALS,
  ...USER_REFUSALS,
  ...LEDGER_REFUSALS,
  ...ORDER_REFUSALS,
  ...CATALOGUE_REFUSALS,
  ...PROVIDER_REFUSALS,
  ...WEBHOOK_REFUSALS,
  ...ADMINISTRATOR_REFUSALS,
  ...MEMBER_REFUSALS,
  ...MAIL_REFUSALS,
  ...PAYMENT_REFUSALS,
  ...IMPORT_REFUSALS,
};

export type RefusalCode = keyof typeof REFUSALS;

export type Refusals = {
  [Code in RefusalCode]: (typeof REFUSALS)[Code] extends RefusalEntry<infer Details>
    ? Details
    : never;
};

/** Thrown for a request that breaks a rule, before anything is written. */
export class Refusal<Code extends RefusalCode = RefusalCode> extends Error {
  constructor(
    readonly code: Code,
    readonly details: Refusals[Code],
  ) {
    super(code);
    this.name = "Refusal";
  }
}

type CodeWithoutDetails = {
  [Code in RefusalCode]: null extends Refusals[Code] ? Code : never;
}[RefusalCode];

export function refusal(code: CodeWithoutDetails): Refusal {
  return new Refusal(code, null);
}

/** Returns a refusal's entry. Its functions take the refusal's own details. */
export function entryOf({ code }: Refusal): RefusalEntry<unknown> {
  return REFUSALS[code] as RefusalEntry<unknown>;
}

/** Returns a text of an entry, made from the details if it uses them. */
export function textOf(text: RefusalText<unknown>, details: unknown): string {
  return typeof text === "string" ? text : text(details);
}

/** Returns what is wrong and what to do, for the panel. */
export function adviceOf(refusal: Refusal): string {
  const { message, hint } = entryOf(refusal);
  const wrong = textOf(message, refusal.details);
  return hint === undefined ? wrong : `${wrong}: ${textOf(hint, refusal.details)}`;
}

/** Returns the sentence for the command line: what is wrong, what to do and the flag or command that does it. */
export function sentenceOf(refusal: Refusal): string {
  const { hint, commandLine } = entryOf(refusal);
  // On the command line a sentence begins with a small letter; `API key` and `PENDING` stay.
  const advice = adviceOf(refusal).replace(/^[A-Z](?=[a-z ])/, (letter) => letter.toLowerCase());
  if (commandLine === undefined) return advice;
  return `${advice}${hint === undefined ? ":" : ","} ${textOf(commandLine, refusal.details)}`;
}

/** Returns the `code` of an error of the system, SQLite or Bun, such as ENOENT; empty without one. */
export function errorCode(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

/** Returns what `body` returns, or the refusal that it throws. */
export function attempt<T>(body: () => T): T | Refusal {
  try {
    return body();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

/** Returns the message of a failure that a process printed as JSON, or whatever else it printed. */
export function messageOf(printed: string): string {
  const text = printed.trim();
  try {
    const failure = JSON.parse(text) as { message?: unknown } | null;
    return typeof failure?.message === "string" ? failure.message : text;
  } catch {
    return text;
  }
}
