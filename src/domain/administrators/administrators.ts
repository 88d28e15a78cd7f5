// Administrators of the panel: their roles and permissions, and the form of names and passwords.

/** Roles from the least to the most privileged; each includes the permissions of those before it. */
export const ROLES = ["support", "operator", "owner"] as const;
export type Role = (typeof ROLES)[number];

export function mayAct(role: Role, least: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(least);
}

const NAME = /^[a-z0-9][a-z0-9._-]{0,31}$/;
export const ADMINISTRATOR_NAME_FORM =
  "1 to 32 of a-z, 0-9 and . _ -, beginning with a letter or digit";

export function isAdministratorName(text: string): boolean {
  return NAME.test(text);
}

/** Returns the name of an administrator in the ledger, the audit log and the events of orders. */
export function authorOf(name: string): string {
  return `panel:${name}`;
}

const AUTHOR = /^panel:([a-z0-9][a-z0-9._-]{0,31})$/;

/** Returns the name of the administrator who is the author; null for any other author. */
export function administratorOf(author: string | null): string | null {
  return AUTHOR.exec(author ?? "")?.[1] ?? null;
}

/** Lengths of a password, in UTF-16 units. */
export const PASSWORD_LEAST = 12;
export const PASSWORD_MOST = 1024;
export const PASSWORD_FORM = `${PASSWORD_LEAST} to ${PASSWORD_MOST} characters`;

export function isPassword(text: string): boolean {
  return text.length >= PASSWORD_LEAST && text.length <= PASSWORD_MOST && text.isWellFormed();
}

/** Limits for the views that an administrator saves: their number, and the lengths of a name and of the filters. */
export const SAVED_VIEWS_LIMIT = 20;
export const VIEW_NAME_LIMIT = 60;
export const VIEW_QUERY_LIMIT = 2000;

/** The time zone of administrators who chose none. */
export const DEFAULT_TIME_ZONE = "UTC";

/** Returns the names of all time zones, such as `Europe/Berlin`. */
export function timeZones(): string[] {
  return [DEFAULT_TIME_ZONE, ...Intl.supportedValuesOf("timeZone")];
}
