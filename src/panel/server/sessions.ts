// Administrators' sessions. Every request looks up its session, so a session that ended at one server has ended at all.

import type {
  Administrator as AdministratorRow,
  PanelSession,
} from "../../db/tables/administrators.ts";
import { findAdministrator, findSession } from "../../db/administrators/administrators.ts";
import type { Reader } from "../../db/port/port.ts";
import { isSessionLive } from "../../domain/sign-ins/sign-ins.ts";
import { isSecretOf, type SessionKey } from "../../web/server/session-cookie.ts";

/** Name of the panel's session cookie. Its value: web/server/session-cookie.ts; its attributes: web/server/cookies.ts. */
export const COOKIE = "reseller";

/** The administrator who sent a request, with the live session. */
export interface Identity {
  administrator: AdministratorRow;
  session: PanelSession;
}

export function findIdentity(
  reader: Reader,
  { id, secret }: SessionKey,
  now: number,
): Identity | null {
  const session = findSession(reader, id);
  if (!session || !isSessionLive(session, now)) return null;
  if (!isSecretOf(session, secret)) return null;
  const administrator = findAdministrator(reader, session.administrator);
  return administrator?.active ? { administrator, session } : null;
}
