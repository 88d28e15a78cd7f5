// "View as": makes a link by which the administrator sees the portal as members of a reseller see it.

/** @jsxImportSource preact */

import { INSPECTION_LINK_TIME, INSPECTION_TIME } from "../../domain/members/inspections.ts";
import { MEMBER_ROLES } from "../../domain/members/members.ts";
import { Choice, Form } from "../../web/components/fields.tsx";
import { baseOf } from "../../web/server/origin.ts";
import type { View } from "../../web/server/results.ts";
import { newSessionId } from "../../web/sessions/session-cookie.ts";
import { linkWithToken, newToken } from "../../web/sessions/tokens.ts";
import type { Submission } from "../server/call.ts";
import type { Panel } from "../server/panel.ts";
import { userPath } from "../users/shown-user.ts";
import { requirePortalUrl } from "./shown-member.tsx";

export function ViewAs({ path }: { path: string }) {
  return (
    <section class="card">
      <h2>View as</h2>
      <Form action={`${path}/members/view`} submit="View the portal">
        <Choice
          name="role"
          label="As a member with the role"
          hint={`you can change nothing; it ends after ${INSPECTION_TIME}, and is in the audit log`}
          options={MEMBER_ROLES.toReversed()}
        />
      </Form>
    </section>
  );
}

export async function viewPortal(submission: Submission, panel: Panel): Promise<View> {
  const { form, visitor, params } = submission;
  const portalUrl = requirePortalUrl(panel);
  const username = params["user"]!;
  const role = form.choice("role", MEMBER_ROLES);
  const { token, invitationHash: tokenHash } = newToken();
  const { id: session } = visitor.identity().session;
  const panelUrl = baseOf(visitor.request, panel.settings);
  const id = newSessionId();
  await submission.submit("offerInspection", { username, role, id, tokenHash, session, panelUrl });
  const title = `View the portal as ${username}`;
  return {
    title,
    body: (
      <div class="narrow">
        <h1>{title}</h1>
        <p>
          The link works once, for {INSPECTION_LINK_TIME}. You see what a member with the role{" "}
          {role} sees, and can change nothing. It ends after {INSPECTION_TIME}, and when you sign
          out here.
        </p>
        <p class="actions">
          <a
            class="button primary"
            href={linkWithToken(`${portalUrl}/inspection`, token)}
            target="_blank"
            rel="noopener noreferrer"
          >
            Open the portal
          </a>
          <a href={`${userPath(username)}/members`}>Back to the members</a>
        </p>
      </div>
    ),
  };
}
