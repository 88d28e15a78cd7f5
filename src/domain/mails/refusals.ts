// Refusals about e-mails.

import { entry, see } from "../values/refusal-entry.ts";

export const MAIL_REFUSALS = {
  mail_off: entry({
    message: "This service sends no e-mail",
    hint: "make a link and hand it over",
    commandLine: "set --smtp, or make a link with --link",
  }),
  mail_not_found: entry({
    message: "E-mail not found",
    commandLine: see("admin mail list"),
    isAbsence: true,
  }),
  mail_not_failed: entry({ message: "The e-mail was sent, or is still waiting" }),
};
