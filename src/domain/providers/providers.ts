// Providers: the form of their keys and URLs, and the settings of their catalogue syncs.

import { MINUTE_MS } from "../values/spans.ts";
import { hasUnprintable } from "../values/text.ts";

const KEY = /^[\x21-\x7e]{1,1024}$/;

/** Accepts 1 to 1,024 characters of visible ASCII. */
export function isProviderKey(text: string): boolean {
  return KEY.test(text);
}

const URL_LENGTH_LIMIT = 2000;
export const PROVIDER_URL_FORM = "an http or https address without a user name or password";

/** Accepts http and https without user name and password: the URL is shown, so it must not contain a secret. */
export function isProviderUrl(text: string): boolean {
  if (text.length > URL_LENGTH_LIMIT || hasUnprintable(text)) return false;
  const url = URL.parse(text);
  if (!url || url.username !== "" || url.password !== "") return false;
  return url.protocol === "http:" || url.protocol === "https:";
}

/** What a sync does with services that are not in the catalogue. */
export const NEW_SERVICES = ["public", "private", "ignore"] as const;
export type NewServices = (typeof NEW_SERVICES)[number];

/** Default limits of a scheduled sync: price change in percent, and number of deactivated services. */
export const SYNC_PRICE_LIMIT = "20";
export const SYNC_DEACTIVATION_LIMIT = 10;
/** Shortest time between scheduled syncs, because a provider's whole list is long. */
export const SYNC_EVERY_LEAST_MS = MINUTE_MS;

/** The word for "no provider" on the command line. No provider may have this name. */
export const NO_PROVIDER = "none";

const MARKUP = /^\d{1,6}(\.\d{1,6})?$/;
export const MARKUP_FORM = "a percentage from 0 to 999999, such as 30";

/** Returns a percentage such as `30%` or `12.5` as decimal text; null when malformed. */
export function parseMarkup(text: string): string | null {
  const percent = text.replace(/%$/, "");
  return MARKUP.test(percent) ? percent : null;
}

/** The settings by which a sync adds a provider's services to the catalogue. */
export interface SyncSettings {
  /** Percent, as a decimal number in text; null: never set. */
  markup: string | null;
  /** Milliseconds between two scheduled syncs; null: none is scheduled. */
  syncEvery: number | null;
  /** Percent, as a decimal number in text. */
  syncPriceLimit: string;
  syncDeactivationLimit: number;
  syncNew: NewServices;
  /** Whether new services get ids made from their names. */
  readableIds: boolean;
}

/** Returns whether a scheduled sync still matches the provider's settings, which may have changed since it began. */
export function matchesSchedule(
  { syncEvery, markup, syncNew, readableIds }: SyncSettings,
  made: { markup: string; newServices?: NewServices; readableIds?: boolean },
): boolean {
  if (syncEvery === null || markup !== made.markup) return false;
  return syncNew === made.newServices && readableIds === made.readableIds;
}
