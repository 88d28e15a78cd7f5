// Administrators of the panel and the rows of their sign-ins.

import type { Reader } from "../port/port.ts";
import { fields, query, select } from "../port/query.ts";
import { number, text } from "../port/table-definition.ts";
import { signInRows } from "../sign-ins/sign-ins.ts";
import {
  type Administrator,
  administrators,
  panelSignIns,
  type SavedView,
  savedViews,
} from "../tables/administrators.ts";

/** The queries of the panel's sign-ins. */
export const PANEL_SIGN_INS = signInRows(panelSignIns);

const ALL = query({
  columns: fields(administrators),
  text: `SELECT ${select(administrators)} FROM administrators ORDER BY name`,
});

const OWNERS = query({
  columns: { owners: number },
  text: `SELECT count(*) AS owners FROM administrators
    WHERE role = 'owner' AND active = 1 AND password_hash IS NOT NULL`,
});

const VIEWS = query({
  parameters: { administrator: text },
  columns: fields(savedViews),
  text: `SELECT ${select(savedViews)} FROM saved_views WHERE administrator = :administrator ORDER BY name`,
});

/** The views that an administrator saved, by name. */
export function listSavedViews(reader: Reader, administrator: string): SavedView[] {
  return reader.all(VIEWS, { administrator });
}

export function findAdministrator(reader: Reader, name: string): Administrator | undefined {
  return reader.row(administrators.byKey, name);
}

export function findInvited(reader: Reader, invitationHash: string): Administrator | undefined {
  return reader.row(administrators.byInvitation, invitationHash);
}

export function listAdministrators(reader: Reader): Administrator[] {
  return reader.all(ALL);
}

/** Counts the active owners with a password. */
export function countOwners(reader: Reader): number {
  return reader.one(OWNERS)!.owners;
}
