// Administrators of the panel and their sessions.

import type { Reader } from "../port/port.ts";
import { fields, query, select } from "../port/query.ts";
import { number, text } from "../port/table-definition.ts";
import {
  type Administrator,
  administrators,
  type PanelSession,
  panelSessions,
  recoveryCodes,
} from "../tables/administrators.ts";

const ALL = query({
  columns: fields(administrators),
  text: `SELECT ${select(administrators)} FROM administrators ORDER BY name`,
});

const SESSIONS = query({
  columns: fields(panelSessions),
  text: `SELECT ${select(panelSessions)} FROM panel_sessions ORDER BY seen_at DESC, id`,
});

const SESSIONS_OF = query({
  parameters: { administrator: text },
  columns: fields(panelSessions),
  text: `SELECT ${select(panelSessions)} FROM panel_sessions WHERE administrator = :administrator
    ORDER BY seen_at DESC, id`,
});

const CODES_OF = query({
  parameters: { administrator: text },
  columns: fields(recoveryCodes),
  text: `SELECT ${select(recoveryCodes)} FROM recovery_codes WHERE administrator = :administrator`,
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

export function findSession(reader: Reader, id: string): PanelSession | undefined {
  return reader.row(panelSessions.byKey, id);
}

/** All sessions, the most recently used first. */
export function listSessions(reader: Reader): PanelSession[] {
  return reader.all(SESSIONS);
}

export function listSessionsOf(reader: Reader, administrator: string): PanelSession[] {
  return reader.all(SESSIONS_OF, { administrator });
}

export function listRecoveryCodes(reader: Reader, administrator: string) {
  return reader.all(CODES_OF, { administrator });
}

/** Counts the active owners with a password. */
export function countOwners(reader: Reader): number {
  return reader.one(OWNERS)!.owners;
}
