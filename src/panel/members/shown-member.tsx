// How the panel shows members and the portal: states, roles, links that are shown once, and what to do where the portal
// is off.

/** @jsxImportSource preact */

import { isMailOn } from "../../db/mails/mails.ts";
import type { Member } from "../../db/tables/members.ts";
import type { MemberRole } from "../../domain/members/members.ts";
import { lifetimesOf } from "../../domain/sign-ins/sign-ins.ts";
import { refusal } from "../../domain/values/error-table.ts";
import { HOUR_MS } from "../../domain/values/spans.ts";
import { Badge } from "../../web/components/shown.tsx";
import type { View } from "../../web/server/results.ts";
import { linkWithToken, newToken } from "../../web/sessions/tokens.ts";
import type { Submission } from "../server/call.ts";
import type { Panel } from "../server/panel.ts";

const { invitationMs, resetMs } = lifetimesOf("portal");
/** How long the links work. */
export const INVITATION_TIME = `${invitationMs / HOUR_MS} hours`;
export const RESET_TIME = `${resetMs / HOUR_MS} hours`;

/** The roles of members, from the most to the least powerful, with what each may do. */
export const ROLE_TEXTS: readonly (readonly [MemberRole, string])[] = [
  ["owner", "owner: everything, and members"],
  ["buyer", "buyer: orders"],
  ["developer", "developer: keys and webhooks"],
  ["viewer", "viewer: reads"],
];

export function MemberState({
  of: { active, passwordHash, invitedUntil },
  now,
}: {
  of: Member;
  now: number;
}) {
  if (!active) return <Badge state="disabled" tone="quiet" />;
  if (passwordHash !== null) return <Badge state="active" />;
  if (invitedUntil === null) return <Badge state="invitation not sent" tone="busy" />;
  return <Badge state={invitedUntil > now ? "invited" : "invitation expired"} tone="busy" />;
}

/** Says that the portal is off, and how to turn it on; nothing where it is on. */
export function PortalOff({ panel }: { panel: Panel }) {
  if (panel.portal.url() !== null) return null;
  return (
    <p class="notice busy">
      The portal is off at this server: members cannot sign in. To turn it on, start the server with{" "}
      <code>--portal</code>.
    </p>
  );
}

/** Returns the portal's address for links. Refuses: portal_not_served. */
export function requirePortalUrl({ portal }: Panel): string {
  const url = portal.url();
  if (url === null) throw refusal("portal_not_served");
  return url;
}

/** Returns a new token with its hash; nulls where the link is sent by e-mail. */
export async function newLink(submission: Submission) {
  return (await submission.read(isMailOn)) ? { token: null, invitationHash: null } : newToken();
}

export function sentNote(email: string): string {
  return `${email} gets an e-mail with the link.`;
}

/** Shows a link by which a person chooses a password. It is shown once. */
export function linkView(
  portalUrl: string,
  token: string,
  { title, whom, time, back }: { title: string; whom: string; time: string; back: string },
): View {
  return {
    title,
    body: (
      <div class="narrow">
        <h1>{title}</h1>
        <p>
          Give {whom} this link over a channel that nobody else can read. It works once, for {time},
          and cannot be shown again.
        </p>
        <pre id="link">{linkWithToken(`${portalUrl}/set-up`, token)}</pre>
        <p class="actions">
          <button type="button" data-copy="link" hidden>
            Copy
          </button>
          <a href={back}>Done</a>
        </p>
      </div>
    ),
  };
}
