// The rules for e-mails (conditions.ts).

import { MINUTE_MS } from "../values/spans.ts";
import { counted } from "../values/text.ts";
import type { Rules } from "./conditions.ts";

export interface MailFacts {
  /** When the most overdue mail was due; null: none waits. */
  dueAt: number | null;
  /** When the oldest mail that the mail server could not take was queued; null: there is none. */
  troubledSince: number | null;
  /** Number of mails that failed for good in the last day. */
  failed: number;
}

/** How long mails may be overdue. */
export const MAILS_LATE_MS = 10 * MINUTE_MS;
const LIST = "see `reseller admin mail list`";
const page = () => "/members/mails";

export const MAIL_RULES: Rules<MailFacts> = {
  mail_stuck: {
    severity: () => "problem",
    holds: ({ dueAt, troubledSince }, now) =>
      [dueAt, troubledSince].some((at) => at !== null && now - at > MAILS_LATE_MS),
    text: () => "E-mails wait, because they cannot be sent",
    page,
    action: "See why",
    advice: () => `${LIST}, and try \`reseller admin mail test\``,
    alert: () => ({ subject: "e-mail" }),
  },
  mail_failed: {
    severity: () => "note",
    holds: ({ failed }) => failed > 0,
    text: ({ failed }) => `${counted(failed, "e-mail")} failed in the last day`,
    page,
    action: "See them",
    advice: () => LIST,
  },
};
