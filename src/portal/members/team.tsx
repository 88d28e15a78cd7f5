// The members of the reseller, for its owners: invite, change roles, disable, and make links to new passwords.

/** @jsxImportSource preact */

import { isMailOn } from "../../db/mails/mails.ts";
import { findMember, listMembersOf } from "../../db/members/members.ts";
import type { Member } from "../../db/tables/members.ts";
import { MEMBER_NAME_LIMIT, MEMBER_ROLES, parseEmail } from "../../domain/members/members.ts";
import { refusal } from "../../domain/values/error-table.ts";
import { Choice, Field, Form } from "../../web/components/fields.tsx";
import { List } from "../../web/components/lists.tsx";
import { Badge, Typed } from "../../web/components/shown.tsx";
import { baseOf } from "../../web/server/origin.ts";
import type { Redirect, View } from "../../web/server/results.ts";
import { linkWithToken, newToken } from "../../web/sessions/tokens.ts";
import { Time } from "../parts/shown.tsx";
import type { Call, Submission } from "../server/call.ts";
import type { Portal } from "../server/portal.ts";
import type { Visitor } from "../server/visitor.ts";

export async function teamPage(call: Call, { now }: Portal): Promise<View> {
  const { visitor } = call;
  const { t } = visitor;
  const members = await call.read((reader) => listMembersOf(reader, visitor.payer.account));
  return {
    title: t("team.title"),
    body: (
      <>
        <h1>{t("team.title")}</h1>
        <List
          caption={t("team.title")}
          rows={members}
          empty={t("site.none")}
          columns={[
            {
              heading: t("field.name"),
              cell: ({ name, email }) => (
                <div>
                  {name !== email && (
                    <>
                      <Typed text={name} />
                      <br />
                    </>
                  )}
                  <Typed text={email} />
                </div>
              ),
            },
            {
              heading: t("team.state"),
              cell: (member) => <State visitor={visitor} member={member} now={now()} />,
            },
            {
              heading: t("team.lastSignIn"),
              cell: ({ signedInAt }) => <Time at={signedInAt} visitor={visitor} isDay />,
            },
            {
              heading: t("field.role"),
              cell: ({ id, name, role }) => (
                <Form action={`/members/${id}/role`}>
                  <Choice
                    name="role"
                    label={t("team.roleOf", { name })}
                    options={roles(visitor)}
                    value={role}
                  />
                  <button>{t("site.save")}</button>
                </Form>
              ),
            },
            {
              heading: t("team.actions"),
              cell: (member) => <Actions visitor={visitor} member={member} />,
            },
          ]}
        />
        <section class="card narrow-card">
          <h2>{t("team.invite")}</h2>
          <Form action="/members" submit={t("team.invite")}>
            <Field name="email" label={t("field.email")} required />
            <Field name="name" label={t("field.name")} hint={t("team.nameHint")} />
            <Choice name="role" label={t("field.role")} options={roles(visitor)} value="buyer" />
          </Form>
        </section>
      </>
    ),
  };
}

function roles({ t }: Visitor) {
  return MEMBER_ROLES.map((role) => [role, t(`role.${role}`)] as const).toReversed();
}

function State({
  visitor: { t },
  member: { active, passwordHash, invitedUntil },
  now,
}: {
  visitor: Visitor;
  member: Member;
  now: number;
}) {
  if (!active) return <Badge state={t("team.disabled")} tone="quiet" />;
  if (passwordHash !== null) return <Badge state={t("team.active")} tone="good" />;
  // Without a time, the mail with the link was not sent yet.
  const isOver = invitedUntil !== null && invitedUntil <= now;
  return <Badge state={t(isOver ? "team.expired" : "team.invited")} tone="busy" />;
}

function Actions({ visitor: { t, member: self }, member }: { visitor: Visitor; member: Member }) {
  const { id, name, active, passwordHash } = member;
  if (id === self.id) return <>{t("team.you")}</>;
  const of = <span class="hidden"> {name}</span>;
  return (
    <div class="actions">
      <Form action={`/members/${id}/${active ? "disable" : "enable"}`}>
        <button>
          {t(active ? "team.disable" : "team.enable")}
          {of}
        </button>
      </Form>
      {active && (
        <Form action={`/members/${id}/${passwordHash === null ? "invite" : "password"}`}>
          <button>
            {t(passwordHash === null ? "team.inviteAgain" : "team.newPassword")}
            {of}
          </button>
        </Form>
      )}
    </div>
  );
}

/** Invites a member: by e-mail, or by a link that is shown once. */
export async function inviteMember(
  submission: Submission,
  portal: Portal,
): Promise<View | Redirect> {
  const { form, visitor } = submission;
  const { t, language } = visitor;
  const email = parseEmail(form.text("email"));
  if (email === null) form.addError("email", t("field.emailWrong"));
  const name = form.optionalText("name", MEMBER_NAME_LIMIT);
  const role = form.choice("role", MEMBER_ROLES);
  form.check();
  // Whoever can manage members can give the account away.
  if (role === "owner") await requireProof(submission);
  const { token, invitationHash } = await newLink(submission);
  const invitation = { email: email!, name, role, language, invitationHash };
  await submission.submit("inviteOwnMember", invitation);
  if (token === null) return sentTo(submission, email!);
  return linkView(submission, portal, token, t("team.linkTitle", { name: name ?? email! }), 72);
}

/** Makes a new link for an invited member: it is sent by e-mail, or shown once. */
export async function inviteAgain(
  submission: Submission,
  portal: Portal,
): Promise<View | Redirect> {
  const { t } = submission.visitor;
  const { name, email, role, language, passwordHash } = await requireColleague(submission);
  if (passwordHash !== null) throw refusal("member_email_taken");
  if (role === "owner") await requireProof(submission);
  const { token, invitationHash } = await newLink(submission);
  await submission.submit("inviteOwnMember", { email, name, role, language, invitationHash });
  if (token === null) return sentTo(submission, email);
  return linkView(submission, portal, token, t("team.linkTitle", { name }), 72);
}

/** Makes a link to a new password for a member: it is sent by e-mail, or shown once. */
export async function resetMemberPassword(
  submission: Submission,
  portal: Portal,
): Promise<View | Redirect> {
  const { visitor } = submission;
  const { name, email, role } = await requireColleague(submission);
  if (role === "owner") await requireProof(submission);
  const { token, invitationHash } = await newLink(submission);
  const id = submission.params["member"]!;
  await submission.submit("resetOwnMember", { id, invitationHash });
  if (token === null) return sentTo(submission, email);
  return linkView(submission, portal, token, visitor.t("team.linkTitle", { name }), 24);
}

/** Returns a new token with its hash; nulls where the link is sent by e-mail. */
async function newLink(submission: Submission) {
  return (await submission.read(isMailOn)) ? { token: null, invitationHash: null } : newToken();
}

function sentTo({ visitor }: Submission, email: string): Redirect {
  return { to: "/members", note: visitor.t("team.sent", { email }) };
}

function linkView(
  { visitor }: Submission,
  portal: Portal,
  token: string,
  title: string,
  hours: number,
): View {
  const { t } = visitor;
  const base = `${baseOf(visitor.request, portal.settings)}${portal.prefix}`;
  return {
    title,
    body: (
      <div class="narrow">
        <h1>{title}</h1>
        <p>{t("team.linkText", { hours })}</p>
        <pre id="link">{linkWithToken(`${base}/set-up`, token)}</pre>
        <p class="actions">
          <button type="button" data-copy="link" data-copied={t("site.copied")} hidden>
            {t("site.copy")}
          </button>
          <a href="/members">{t("team.title")}</a>
        </p>
      </div>
    ),
  };
}

export async function changeRole(submission: Submission): Promise<Redirect> {
  const { form, visitor } = submission;
  const role = form.choice("role", MEMBER_ROLES);
  form.check();
  const { id, name } = await requireColleague(submission);
  if (role === "owner") await requireProof(submission);
  await submission.submit("setOwnMemberRole", { id, role });
  return { to: "/members", note: visitor.t("team.changed", { name }) };
}

export async function disableMember(submission: Submission): Promise<Redirect> {
  return setActive(submission, false);
}

export async function enableMember(submission: Submission): Promise<Redirect> {
  return setActive(submission, true);
}

async function setActive(submission: Submission, active: boolean): Promise<Redirect> {
  const { id, name } = await requireColleague(submission);
  await submission.submit("setOwnMemberActive", { id, active });
  return { to: "/members", note: submission.visitor.t("team.changed", { name }) };
}

/** Asks for the password or a code unless it was given lately. */
async function requireProof(submission: Submission): Promise<void> {
  const { t } = submission.visitor;
  await submission.confirm({ title: t("team.proofTitle"), moves: [], isSensitive: true });
}

/** Finds a member of the same reseller. Refuses: member_not_found. */
async function requireColleague(submission: Submission): Promise<Member> {
  const { visitor, params } = submission;
  const { found } = await submission.read((reader) => ({
    found: findMember(reader, params["member"]!),
  }));
  if (found?.account !== visitor.payer.account) throw refusal("member_not_found");
  return found;
}
