// Providers: which keys and URLs are well formed.

const KEY = /^[\x21-\x7e]{1,1024}$/;

/** Visible ASCII, as keys are. */
export function isProviderKey(text: string): boolean {
  return KEY.test(text);
}

/** http or https without user name and password: the URL is shown, so it must hold no secret. */
export function isProviderUrl(text: string): boolean {
  const url = URL.parse(text);
  if (!url || url.username !== "" || url.password !== "") return false;
  return url.protocol === "http:" || url.protocol === "https:";
}

/** What a sync makes of services that the catalogue does not have yet. */
export const NEW_SERVICES = ["public", "private", "ignore"] as const;
export type NewServices = (typeof NEW_SERVICES)[number];

/** What a scheduled sync may do unasked, until the operator says otherwise: percent, and services. */
export const SYNC_PRICE_LIMIT = "20";
export const SYNC_DEACTIVATION_LIMIT = 10;
/** A provider's whole list is long: not more often than this. */
export const SYNC_EVERY_LEAST_MS = 60_000;

/** Stands for no provider on the command line, so that none is called so. */
export const NO_PROVIDER = "none";

const MARKUP = /^\d{1,6}(\.\d{1,6})?$/;
export const MARKUP_FORM = "a percentage from 0 to 999999, such as 30";

/** A percentage such as `30%` or `12.5` as its decimal text; null when it is none. */
export function parseMarkup(text: string): string | null {
  const percent = text.replace(/%$/, "");
  return MARKUP.test(percent) ? percent : null;
}

/** How a provider's services come into the catalogue. */
export interface SyncSettings {
  /** Percent, as a decimal number in text; null: never said. */
  markup: string | null;
  /** Milliseconds between two scheduled syncs; null: none is scheduled. */
  syncEvery: number | null;
  /** Percent, as a decimal number in text. */
  syncPriceLimit: string;
  syncDeactivationLimit: number;
  syncNew: NewServices;
  /** New services get ids made of their names. */
  readableIds: boolean;
}

/** Whether a scheduled sync is made as the provider's schedule says now: the operator may have changed it meanwhile. */
export function isAsScheduled(
  { syncEvery, markup, syncNew, readableIds }: SyncSettings,
  made: { markup: string; newServices?: NewServices; readableIds?: boolean },
): boolean {
  if (syncEvery === null || markup !== made.markup) return false;
  return syncNew === made.newServices && readableIds === made.readableIds;
}
