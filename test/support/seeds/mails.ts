// E-mails to members that wait to be sent.

import { PASSWORD_HASH } from "../worlds/panel.ts";
import type { TestPortal } from "../worlds/portal.ts";

/** The id of a mail to a member with PASSWORD, about a sign-in from another network. Mails are turned on already. */
export function mailTo(portal: TestPortal, person: string): string {
  for (const network of ["192.0.2.0/24", "198.51.100.0/24"]) {
    const key = { id: `${person}${network}`, hash: "0".repeat(64) };
    const session = { ...key, address: "192.0.2.1", userAgent: "" };
    const proved = { site: "portal", attempt: null, person, passwordHash: PASSWORD_HASH } as const;
    portal.run("openSession", { ...proved, session, network });
  }
  return portal.query<{ id: string }>("SELECT id FROM mails WHERE member = ?", person)[0]!.id;
}
