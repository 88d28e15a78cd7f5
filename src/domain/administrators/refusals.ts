// Refusals about the panel's administrators, their sign-ins and their permissions.

import { entry, see } from "../values/refusal-entry.ts";

export const ADMINISTRATOR_REFUSALS = {
  administrator_not_found: entry({
    message: "Administrator not found",
    commandLine: see("panel list"),
    fields: ["name"],
    isAbsence: true,
  }),
  administrator_name_taken: entry({
    message: "An administrator has that name already",
    commandLine:
      "choose another, or set a new password for the existing one with `reseller panel password`",
    fields: ["name"],
  }),
  /** Without this owner nobody could manage administrators. */
  administrator_last_owner: entry({
    message: "This is the last active owner",
    hint: "invite another first",
    commandLine: see("panel invite NAME --role owner"),
  }),
  saved_views_full: entry<{ limit: number }>({
    message: ({ limit }) => `You have ${limit} saved views already`,
    hint: "remove one first",
    fields: ["name"],
  }),
  second_factor_absent: entry({ message: "There is no second factor" }),
  second_factor_present: entry({
    message: "There is a second factor already",
    hint: "remove it first",
  }),
  /** Wrong name, password or state. The message does not say which, so that names cannot be guessed. */
  sign_in_refused: entry({ message: "Wrong name or password", fields: ["password", "proof"] }),
  sign_in_limited: entry<{ retryAfterSeconds: number }>({
    message: "Too many failures",
    hint: ({ retryAfterSeconds }) => `try again in ${retryAfterSeconds} s`,
  }),
  invitation_invalid: entry({
    message: "The link was used or has expired",
    hint: "ask for another",
    fields: ["token"],
  }),
  code_wrong: entry({ message: "Wrong code", fields: ["code", "proof"] }),
  /** The administrator was disabled, or its role was changed, since the form was shown. */
  administrator_not_allowed: entry({ message: "Your role does not allow this" }),
  /** `what`: the part of a form that the role does not allow. */
  owner_required: entry<{ what: string }>({ message: ({ what }) => `Only an owner may ${what}` }),
  /** The session has already ended, or belongs to another administrator. */
  session_not_found: entry({
    message: "Session not found",
    hint: "it has ended, or belongs to another administrator",
  }),
};
