// Refusals about providers and the sync of their lists.

import { entry, see } from "../values/refusal-entry.ts";
import { counted } from "../values/text.ts";

export const PROVIDER_REFUSALS = {
  provider_not_found: entry({
    message: "Provider not found",
    commandLine: see("admin provider list"),
    fields: ["provider", "name"],
    isAbsence: true,
  }),
  provider_name_taken: entry({
    message: "A provider has that name already",
    hint: "case does not count, choose another",
    fields: ["name"],
  }),
  provider_name_reserved: entry({
    message: "That name is reserved",
    hint: "choose another",
    fields: ["name"],
  }),
  /** A stored key is never sent to an address other than the one it was given for. */
  provider_key_needed: entry({
    message: "A new address needs the key again",
    hint: "nothing was changed",
    commandLine: "give --key-stdin",
    fields: ["key"],
  }),
  provider_inactive: entry({
    message: "The provider is inactive",
    hint: "activate it first",
    commandLine: see("admin provider activate"),
    fields: ["provider"],
  }),
  provider_in_use: entry<{ services: number; orders: boolean }>({
    message: ({ services, orders }) =>
      orders
        ? "The provider has orders, which refer to it"
        : `The provider delivers ${counted(services, "service")}`,
    hint: ({ orders }) =>
      orders ? "deactivate it" : "delete these services or move them to another provider",
    commandLine: ({ orders }) => see(`admin ${orders ? "provider deactivate" : "service update"}`),
  }),
  markup_missing: entry({
    message: "A scheduled sync needs a stored markup, and none is stored",
    hint: "set a markup first",
    commandLine: "give --markup, such as --markup 30%",
    fields: ["markup", "every"],
  }),
};
