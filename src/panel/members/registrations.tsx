// Registrations: visitors who asked for an account. The operator approves each, which creates a reseller, or declines it.

/** @jsxImportSource preact */

import {
  countRegistrations,
  findRegistration,
  listRegistrations,
} from "../../db/members/registrations.ts";
import type { Registration } from "../../db/tables/members.ts";
import { mayAct } from "../../domain/administrators/administrators.ts";
import { LANGUAGE_NAMES } from "../../domain/members/languages.ts";
import { USERNAME_FORM } from "../../domain/users/users.ts";
import { refusal } from "../../domain/values/error-table.ts";
import { counted } from "../../domain/values/text.ts";
import { Field, Fold, Form } from "../../web/components/fields.tsx";
import { List } from "../../web/components/lists.tsx";
import { PageHead } from "../../web/components/page-head.tsx";
import { Time, Typed } from "../../web/components/shown.tsx";
import type { Redirect, View } from "../../web/server/results.ts";
import type { Call, Submission } from "../server/call.ts";
import type { Panel } from "../server/panel.ts";
import { userPath } from "../users/shown-user.ts";
import { MemberTabs } from "./members.tsx";
import {
  INVITATION_TIME,
  linkView,
  newLink,
  PortalOff,
  requirePortalUrl,
  sentNote,
} from "./shown-member.tsx";

const PATH = "/members/registrations";
/** Limit for the list. Those who have waited longest come first. */
const SHOWN = 100;

export async function registrationsPage(call: Call, panel: Panel): Promise<View> {
  const { all, unproved } = await call.read((reader) => ({
    all: listRegistrations(reader),
    unproved: countRegistrations(reader).unproved,
  }));
  const mayDecide = mayAct(call.visitor.administrator.role, "operator");
  const isOn = panel.portal.registration === "approve";
  return {
    title: "Registrations",
    body: (
      <>
        <PageHead title="Registrations" />
        <MemberTabs chosen="registrations" waiting={all.length} />
        <PortalOff panel={panel} />
        <p>
          {isOn
            ? "Visitors who asked for an account. Approving one creates a reseller with balance 0 and shows a link for its first owner."
            : "Visitors cannot ask for an account: the server runs without --portal-registration approve."}
        </p>
        <List
          caption="Registrations, oldest first"
          rows={all.slice(0, SHOWN)}
          empty="No registrations."
          columns={[
            { heading: "Name", cell: ({ name }) => <Typed text={name} /> },
            { heading: "E-mail", cell: ({ email }) => <Typed text={email} /> },
            { heading: "Language", cell: ({ language }) => LANGUAGE_NAMES[language] },
            { heading: "Asked (UTC)", cell: ({ createdAt }) => <Time at={createdAt} /> },
            ...(mayDecide
              ? [{ heading: "Decide", cell: (each: Registration) => <Decisions of={each} /> }]
              : []),
          ]}
        />
        {unproved > 0 && (
          <p class="hint">
            {counted(unproved, "visitor")} got a link by e-mail and did not open it yet.
          </p>
        )}
        {all.length > SHOWN && <p class="hint">{all.length - SHOWN} more wait after these.</p>}
      </>
    ),
  };
}

function Decisions({ of: { id, email } }: { of: Registration }) {
  const of = (
    <span class="hidden">
      {" "}
      <Typed text={email} />
    </span>
  );
  return (
    <div class="inline">
      <Fold action={`${PATH}/${id}/approve`} summary="Approve">
        <Form action={`${PATH}/${id}/approve`}>
          <Field
            name="username"
            label="Username of the new reseller"
            hint={`${USERNAME_FORM}; empty: the e-mail address`}
          />
          <p class="actions">
            <button class="primary">Create the reseller{of}</button>
          </p>
        </Form>
      </Fold>
      <Form action={`${PATH}/${id}/decline`}>
        <button>Decline{of}</button>
      </Form>
    </div>
  );
}

/** Creates a reseller for a visitor. The link for its first owner is sent by e-mail, or shown once. */
export async function approveRegistration(
  submission: Submission,
  panel: Panel,
): Promise<View | Redirect> {
  const portalUrl = requirePortalUrl(panel);
  const username = submission.form.optionalUsername("username");
  const { token, invitationHash } = await newLink(submission);
  const id = submission.params["registration"]!;
  const decision = { id, username, invitationHash };
  const approved = await submission.submit("approveRegistration", decision);
  const back = `${userPath(approved.username)}/members`;
  if (token === null) return { to: back, note: sentNote(approved.email) };
  return linkView(portalUrl, token, {
    title: `Reseller ${approved.username} was created`,
    whom: approved.email,
    time: INVITATION_TIME,
    back,
  });
}

export async function declineRegistration(submission: Submission): Promise<Redirect> {
  const id = submission.params["registration"]!;
  const { found } = await submission.read((reader) => ({ found: findRegistration(reader, id) }));
  if (!found || found.confirmUntil !== null) throw refusal("registration_not_found");
  await submission.confirm({
    title: `Decline ${found.email}`,
    moves: [],
    danger: true,
    details: (
      <p>
        The registration of <Typed text={found.name} /> is deleted. The visitor gets no message, and
        can ask again.
      </p>
    ),
  });
  await submission.submit("declineRegistration", { id });
  return { to: PATH, note: `${found.email} was declined.` };
}
