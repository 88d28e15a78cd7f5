// Refusals about members of resellers and their portal.

import { entry, see } from "../values/refusal-entry.ts";

export const MEMBER_REFUSALS = {
  member_not_found: entry({
    message: "Member not found",
    commandLine: see("admin portal list"),
    fields: ["email"],
    isAbsence: true,
  }),
  member_email_taken: entry({
    message: "A member has that e-mail address already",
    commandLine: see("admin portal list"),
    fields: ["email"],
  }),
  /** Only for who has proved the address: it signs in to another account. */
  member_email_held: entry({
    message: "This e-mail address has an account already",
    hint: "use another address",
    commandLine: see("admin portal list"),
  }),
  /** The address is in invitations of several resellers. */
  member_email_ambiguous: entry({
    message: "Several resellers have invited this address",
    hint: "use the page of the reseller's members in the panel",
    fields: ["email"],
  }),
  /** Without this owner nobody could manage the reseller's members. */
  member_last_owner: entry({
    message: "This is the last active owner",
    hint: "give another member that role first",
    fields: ["role"],
  }),
  member_not_invited: entry({ message: "The member has no password yet", hint: "invite it again" }),
  members_limit: entry<{ limit: number }>({
    message: ({ limit }) => `A reseller has at most ${limit} members`,
  }),
  /** The role of the member does not allow it, or the member, its reseller or its portal is switched off. */
  member_not_allowed: entry({ message: "Your role does not allow this" }),
  child_has_no_members: entry({
    message: "Child users have no members",
    hint: "invite a member of their reseller",
  }),
  /** The role of the member or the operator's choice for its reseller does not allow keys of this type. */
  key_type_not_allowed: entry({
    message: "Members of this reseller cannot have such a key",
    fields: ["type"],
  }),
  keys_limit: entry<{ limit: number }>({
    message: ({ limit }) => `A reseller has at most ${limit} keys in use`,
    hint: "deactivate one first",
  }),
  portal_off: entry({
    message: "The portal of this reseller is off",
    commandLine: "turn it on with `reseller admin portal on`",
  }),
  /** The operator makes a link to a portal that the server does not serve. */
  portal_not_served: entry({
    message: "The portal is off at this server",
    hint: "start the server with --portal",
  }),
  notice_not_found: entry({
    message: "Notice not found",
    commandLine: see("admin portal notice list"),
    isAbsence: true,
  }),
  notice_ended: entry({ message: "The notice would have ended already", fields: ["until"] }),
  notices_limit: entry<{ limit: number }>({
    message: ({ limit }) => `There are at most ${limit} notices`,
    hint: "remove one first",
    commandLine: see("admin portal notice list"),
  }),
  registration_not_found: entry({
    message: "Registration not found",
    commandLine: see("admin portal registrations"),
    isAbsence: true,
  }),
  registrations_full: entry({
    message: "Too many registrations are waiting",
    hint: "try again later",
  }),
};
