// Changes by operators to a reseller's members and its portal, by the operations of `admin portal`.

/** @jsxImportSource preact */

import { findMember, findPortalSettings, listMembersOf } from "../../db/members/members.ts";
import type { Member } from "../../db/tables/members.ts";
import { LANGUAGES } from "../../domain/members/languages.ts";
import { MEMBER_NAME_LIMIT, MEMBER_ROLES } from "../../domain/members/members.ts";
import { mayCreateCredit } from "../../domain/members/portal.ts";
import { KEY_TYPES } from "../../domain/users/keys.ts";
import { refusal } from "../../domain/values/error-table.ts";
import { EMAIL } from "../../domain/values/kinds.ts";
import { counted } from "../../domain/values/text.ts";
import type { Invitation } from "../../operations/members/members.ts";
import { Typed } from "../../web/components/shown.tsx";
import type { Redirect, View } from "../../web/server/results.ts";
import type { Submission } from "../server/call.ts";
import type { Panel } from "../server/panel.ts";
import { requireShownUser, userPath } from "../users/shown-user.ts";
import {
  INVITATION_TIME,
  linkView,
  newLink,
  requirePortalUrl,
  RESET_TIME,
  sentNote,
} from "./shown-member.tsx";

/** Invites a member: by e-mail, or by a link that is shown once. */
export async function inviteMember(submission: Submission, panel: Panel): Promise<View | Redirect> {
  const { form } = submission;
  const portalUrl = requirePortalUrl(panel);
  const email = form.required("email", EMAIL, "").toLowerCase();
  const name = form.optionalText("name", MEMBER_NAME_LIMIT);
  const role = form.choice("role", MEMBER_ROLES);
  const language = form.choice("language", LANGUAGES);
  form.check();
  return sendInvitation(submission, portalUrl, { email, name, role, language });
}

async function sendInvitation(
  submission: Submission,
  portalUrl: string,
  invited: Omit<Invitation, "invitationHash">,
): Promise<View | Redirect> {
  const { email, role } = invited;
  const username = submission.params["user"]!;
  if (role === "owner") await confirmOwner(submission, email);
  const { token, invitationHash } = await newLink(submission);
  await submission.submit("inviteMember", { username, ...invited, invitationHash });
  if (token === null) return { to: pathOf(submission), note: sentNote(email) };
  return linkView(portalUrl, token, {
    title: `Invitation for ${email}`,
    whom: email,
    time: INVITATION_TIME,
    back: pathOf(submission),
  });
}

function confirmOwner(submission: Submission, email: string): Promise<void> {
  return submission.confirm({
    title: `Invite ${email} as an owner of ${submission.params["user"]!}`,
    moves: [],
    isSensitive: true,
    details: <p>An owner spends the balance, makes keys and manages the other members.</p>,
  });
}

/** Makes a new link for a member who has not accepted its invitation. It is sent by e-mail, or shown once. */
export async function inviteAgain(submission: Submission, panel: Panel): Promise<View | Redirect> {
  const portalUrl = requirePortalUrl(panel);
  const { email, name, role, language, passwordHash } = await memberOf(submission);
  if (passwordHash !== null) throw refusal("member_email_taken");
  return sendInvitation(submission, portalUrl, { email, name, role, language });
}

/** Makes a link by which the member chooses a new password. It is sent by e-mail, or shown once. */
export async function resetMember(submission: Submission, panel: Panel): Promise<View | Redirect> {
  const portalUrl = requirePortalUrl(panel);
  const { id, email } = await memberOf(submission);
  await submission.confirm({
    title: `Make a link to a new password for ${email}`,
    moves: [],
    isSensitive: true,
    details: (
      <p>Whoever has the link can sign in as this member. The old password works until then.</p>
    ),
  });
  const { token, invitationHash } = await newLink(submission);
  await submission.submit("resetMember", { id, invitationHash });
  if (token === null) return { to: pathOf(submission), note: sentNote(email) };
  return linkView(portalUrl, token, {
    title: `New password of ${email}`,
    whom: email,
    time: RESET_TIME,
    back: pathOf(submission),
  });
}

export async function changeRole(submission: Submission): Promise<Redirect> {
  const role = submission.form.choice("role", MEMBER_ROLES);
  const found = await memberOf(submission);
  if (role !== found.role) {
    await submission.confirm({
      title: `Give ${found.email} the role ${role}`,
      moves: [],
      isSensitive: role === "owner",
      details: <p>The role was {found.role}. The member is signed out.</p>,
    });
  }
  await submission.submit("setMemberRole", { id: found.id, role });
  return { to: pathOf(submission), note: `${found.email} has the role ${role}.` };
}

/** Changes the address with which a member signs in. An e-mail tells the old address. */
export async function changeEmail(submission: Submission): Promise<Redirect> {
  const email = submission.form.required("email", EMAIL, "").toLowerCase();
  submission.form.check();
  const found = await memberOf(submission);
  await submission.confirm({
    title: `Change ${found.email} to ${email}`,
    moves: [],
    isSensitive: true,
    details: <p>Whoever reads the new address can take the member's place: it gets the links.</p>,
  });
  await submission.submit("setMemberEmail", { id: found.id, email });
  return { to: pathOf(submission), note: `${found.email} is ${email} now.` };
}

export async function disableMember(submission: Submission): Promise<Redirect> {
  const { id, email } = await memberOf(submission);
  await submission.confirm({
    title: `Disable ${email}`,
    moves: [],
    danger: true,
    details: <p>The member is signed out, and cannot sign in until you or an owner enables it.</p>,
  });
  await submission.submit("setMemberActive", { id, active: false });
  return { to: pathOf(submission), note: `${email} is disabled, and signed out.` };
}

export async function enableMember(submission: Submission): Promise<Redirect> {
  const { id, email } = await memberOf(submission);
  await submission.submit("setMemberActive", { id, active: true });
  return { to: pathOf(submission), note: `${email} is enabled.` };
}

export async function removeMembersSecondFactor(submission: Submission): Promise<Redirect> {
  const { id, email } = await memberOf(submission);
  await submission.confirm({
    title: `Remove the second factor of ${email}`,
    moves: [],
    danger: true,
    isSensitive: true,
    details: <p>Until the member sets up another, the password alone is enough.</p>,
  });
  await submission.submit("removeSecondFactor", { site: "portal", person: id });
  return {
    to: pathOf(submission),
    note: `${email} has no second factor now, and is signed out.`,
  };
}

export async function endMembersSessions(submission: Submission): Promise<Redirect> {
  const { id: person, email } = await memberOf(submission);
  const all = { site: "portal", person, session: null } as const;
  const ended = await submission.submit("revokeSessions", all);
  return { to: pathOf(submission), note: `${counted(ended, "session")} of ${email} ended.` };
}

export async function turnPortalOff(submission: Submission): Promise<Redirect> {
  const username = submission.params["user"]!;
  await submission.confirm({
    title: `Turn the portal off for ${username}`,
    moves: [],
    danger: true,
    details: <p>No member of {username} can sign in. Keys and orders stay as they are.</p>,
  });
  await submission.submit("setPortal", { username, changes: { active: false } });
  return { to: pathOf(submission), note: `The portal is off for ${username}.` };
}

export async function turnPortalOn(submission: Submission): Promise<Redirect> {
  const username = submission.params["user"]!;
  await submission.submit("setPortal", { username, changes: { active: true } });
  return { to: pathOf(submission), note: `The portal is on for ${username}.` };
}

export async function setMemberKeys(submission: Submission): Promise<Redirect> {
  const username = submission.params["user"]!;
  const keys = submission.form.choice("keys", KEY_TYPES);
  const { before, owners } = await submission.read((reader) => {
    const { account } = requireShownUser(reader, username);
    const members = listMembersOf(reader, account);
    return {
      before: findPortalSettings(reader, account).keys,
      owners: members.filter(({ role, active }) => role === "owner" && active),
    };
  });
  if (keys !== before && mayCreateCredit({ keys }, "owner")) {
    submission.visitor.requireOwner("let members make keys that create credit");
    await submission.confirm({
      title: `Let owners of ${username} make ${keys} keys`,
      moves: [],
      danger: true,
      isSensitive: true,
      details: (
        <p>
          With such a key they credit the child users of {username}: allow it only if you bill for
          it. Its owners: {owners.length === 0 && "none yet"}
          {owners.map(({ email }, index) => (
            <>
              {index > 0 && ", "}
              <Typed text={email} />
            </>
          ))}
          .
        </p>
      ),
    });
  }
  await submission.submit("setPortal", { username, changes: { keys } });
  return { to: pathOf(submission), note: `Members of ${username} may create ${keys} keys.` };
}

/** Returns a member of this reseller. Refuses: user_not_found, member_not_found. */
async function memberOf(submission: Submission): Promise<Member> {
  const { user = "", member = "" } = submission.params;
  const found = await submission.read((reader) => {
    const { account } = requireShownUser(reader, user);
    const row = findMember(reader, member);
    return row?.account === account ? row : null;
  });
  if (!found) throw refusal("member_not_found");
  return found;
}

function pathOf({ params }: Submission): string {
  return `${userPath(params["user"]!)}/members`;
}
