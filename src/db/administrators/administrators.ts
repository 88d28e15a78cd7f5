// Administrators of the panel and the rows of their sign-ins.

import type { Reader } from "../port/port.ts";
import { fields, query, select } from "../port/query.ts";
import { number } from "../port/table-definition.ts";
import { signInRows } from "../sign-ins/sign-ins.ts";
import { type Administrator, administrators, panelSignIns } from "../tables/administrators.ts";

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
