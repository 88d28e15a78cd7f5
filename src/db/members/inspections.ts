// Inspections of the portal by administrators, and whether one may go on.

import {
  INSPECTOR,
  inspectionEnd,
  type InspectionCause,
} from "../../domain/members/inspections.ts";
import { mayAct } from "../../domain/administrators/administrators.ts";
import { isSessionLive } from "../../domain/sign-ins/sign-ins.ts";
import { findAdministrator, PANEL_SIGN_INS } from "../administrators/administrators.ts";
import type { Reader } from "../port/port.ts";
import { fields, query, select } from "../port/query.ts";
import { type Inspection, inspections } from "../tables/members.ts";
import { users } from "../tables/users.ts";
import { findPortalSettings } from "./members.ts";

const ALL = query({
  columns: fields(inspections),
  text: `SELECT ${select(inspections)} FROM inspections ORDER BY id`,
});

export function findInspection(reader: Reader, id: string): Inspection | undefined {
  return reader.row(inspections.byKey, id);
}

export function findInspectionOf(reader: Reader, session: string): Inspection | undefined {
  return reader.row(inspections.bySession, session);
}

export function findOfferedInspection(reader: Reader, tokenHash: string): Inspection | undefined {
  return reader.row(inspections.byToken, tokenHash);
}

/** All inspections. Each session of the panel has at most one. */
export function listInspections(reader: Reader): Inspection[] {
  return reader.all(ALL);
}

/**
 * Returns why the inspection must end; null: it may go on. It ends with the administrator's session in the panel, with
 * the administrator's right, and when the members themselves could not see the portal.
 */
export function whyInspectionEnds(
  reader: Reader,
  inspection: Inspection,
  now: number,
): InspectionCause | null {
  if (now >= inspectionEnd(inspection)) return "time is up";
  const { administrator, account } = inspection;
  const session = PANEL_SIGN_INS.findSession(reader, inspection.session);
  const isSignedIn =
    session?.person === administrator &&
    !session.awaitsCode &&
    isSessionLive("panel", session, now);
  const found = findAdministrator(reader, administrator);
  if (!isSignedIn || !found?.active || !mayAct(found.role, INSPECTOR))
    return "signed out of the panel";
  const isOn = reader.row(users.byKey, account)!.active;
  return isOn && findPortalSettings(reader, account).active ? null : "portal is off";
}
