// What administrators set for themselves: their time zone and their saved views. It changes only what they see, so it
// is not in the audit log.

import { findAdministrator, listSavedViews } from "../../db/administrators/administrators.ts";
import type { Tx } from "../../db/port/port.ts";
import { administrators, savedViews } from "../../db/tables/administrators.ts";
import { CATALOGUE_LOCK } from "../../db/tables/locks.ts";
import { SAVED_VIEWS_LIMIT } from "../../domain/administrators/administrators.ts";
import type { Actor } from "../../domain/ledger/ledger.ts";
import { Refusal, refusal } from "../../domain/values/error-table.ts";

export interface SetTimeZone {
  name: string;
  /** Null: UTC. */
  timeZone: string | null;
  actor: Actor;
}

/** Sets the time zone of the times that an administrator sees. Refuses: administrator_not_found. */
export function setTimeZone(tx: Tx, { name, timeZone }: SetTimeZone): null {
  const found = findAdministrator(tx, name);
  if (!found) throw refusal("administrator_not_found");
  tx.update(administrators, found, { timeZone });
  return null;
}

export interface SaveView {
  administrator: string;
  name: string;
  /** The filters as a query string. */
  query: string;
  actor: Actor;
}

/** Saves a view, in place of one with the same name. Refuses: saved_views_full. */
export function saveView(tx: Tx, { administrator, name, query }: SaveView): null {
  tx.lock(CATALOGUE_LOCK);
  const views = listSavedViews(tx, administrator);
  const same = views.find((view) => view.name === name);
  if (!same && views.length >= SAVED_VIEWS_LIMIT) {
    throw new Refusal("saved_views_full", { limit: SAVED_VIEWS_LIMIT });
  }
  if (same) tx.update(savedViews, same, { query });
  else tx.insert(savedViews, { administrator, name, query });
  return null;
}

export interface RemoveView {
  administrator: string;
  name: string;
  actor: Actor;
}

/** Removes a view; a view that is gone already stays gone. */
export function removeView(tx: Tx, { administrator, name }: RemoveView): null {
  tx.lock(CATALOGUE_LOCK);
  const found = listSavedViews(tx, administrator).find((view) => view.name === name);
  if (found) tx.delete(savedViews, found);
  return null;
}
