// The members of a reseller, and what its portal allows.

/** @jsxImportSource preact */

import {
  findMemberByEmail,
  findPortalSettings,
  listMembersOf,
  PORTAL_SIGN_INS,
} from "../../db/members/members.ts";
import type { Reader } from "../../db/port/port.ts";
import type { Member, PortalSettings } from "../../db/tables/members.ts";
import type { User } from "../../db/users/users.ts";
import { mayAct } from "../../domain/administrators/administrators.ts";
import { LANGUAGE_NAMES, LANGUAGES } from "../../domain/members/languages.ts";
import { MEMBER_ROLES } from "../../domain/members/members.ts";
import { isSessionLive } from "../../domain/sign-ins/sign-ins.ts";
import { counted } from "../../domain/values/text.ts";
import { Choice, Field, Fold, Form } from "../../web/components/fields.tsx";
import { List } from "../../web/components/lists.tsx";
import { PageHead } from "../../web/components/page-head.tsx";
import { Badge, Time, Typed } from "../../web/components/shown.tsx";
import type { View } from "../../web/server/results.ts";
import type { Call } from "../server/call.ts";
import type { Panel } from "../server/panel.ts";
import { requireShownUser, userPath } from "../users/shown-user.ts";
import { ViewAs } from "./inspections.tsx";
import { MemberState, PortalOff, ROLE_TEXTS } from "./shown-member.tsx";

/** Limit for the members on the reseller's page. */
const FEW = 5;

const KEY_TEXTS = [
  ["order", "order keys"],
  ["recharge", "order and recharge keys (they create credit)"],
  ["full", "all keys (they create credit)"],
] as const;

/** What pages show of a reseller's portal. */
export interface UserMembers {
  members: Member[];
  allowed: PortalSettings;
}

export function readUserMembers(reader: Reader, { account }: User): UserMembers {
  const members = listMembersOf(reader, account);
  return { members, allowed: findPortalSettings(reader, account) };
}

/** The part of the reseller's page: its first members, with a link to all. */
export function Members({
  of: { members, allowed },
  path,
  now,
}: {
  of: UserMembers;
  /** Path of the user. */
  path: string;
  now: number;
}) {
  return (
    <>
      <h2 id="members">Members {!allowed.active && <Badge state="portal off" tone="bad" />}</h2>
      <List
        caption="Members, oldest first"
        rows={members.slice(0, FEW)}
        empty="No members: no one can sign in to the portal for this reseller."
        columns={[
          { heading: "Name", cell: ({ name }) => <Typed text={name} /> },
          { heading: "E-mail", cell: ({ email }) => <Typed text={email} /> },
          { heading: "Role", cell: ({ role }) => role },
          { heading: "State", cell: (member) => <MemberState of={member} now={now} /> },
          { heading: "Last sign-in (UTC)", cell: ({ signedInAt }) => <Time at={signedInAt} /> },
        ]}
      />
      <p class="actions">
        <a href={`${path}/members`}>
          {members.length > FEW
            ? `All ${members.length} members, and the portal`
            : "Manage members and the portal"}
        </a>
      </p>
    </>
  );
}

interface ShownMember extends Member {
  /** Number of live sessions. */
  sessions: number;
  /** Whether the member is invited, and another one signs in with its address. */
  isHeld: boolean;
}

export async function userMembersPage(call: Call, panel: Panel): Promise<View> {
  const now = panel.now();
  const { user, members, allowed } = await call.read((reader) => {
    const found = requireShownUser(reader, call.params["user"]!);
    const read = readUserMembers(reader, found);
    const shown = reader.each(read.members, (member): ShownMember => {
      const sessions = PORTAL_SIGN_INS.listSessionsOf(reader, member.id);
      const live = sessions.filter((each) => isSessionLive("portal", each, now));
      const isHeld =
        member.passwordHash === null && findMemberByEmail(reader, member.email) !== undefined;
      return { ...member, sessions: live.length, isHeld };
    });
    return { user: found, members: shown, allowed: read.allowed };
  });
  const { username } = user;
  const path = userPath(username);
  const title = `Members of ${username}`;
  const mayChange = mayAct(call.visitor.administrator.role, "operator");
  if (user.parentAccount !== null || user.erasedAt !== null) {
    return {
      title,
      body: (
        <>
          <PageHead title={title} />
          <p>
            {user.erasedAt === null
              ? "Child users have no members of their own: the members of their reseller see them."
              : "The personal data of this user was erased."}{" "}
            <a href={path}>To the user</a>
          </p>
        </>
      ),
    };
  }
  const isOn = panel.portal.url() !== null;
  const mayView = isOn && user.active && allowed.active;
  return {
    title,
    body: (
      <>
        <PageHead
          title={
            <>
              Members of <a href={path}>{username}</a>
            </>
          }
        />
        <PortalOff panel={panel} />
        {!user.active && (
          <p class="notice busy">The reseller is inactive: its members cannot sign in.</p>
        )}
        <List
          caption={`Members of ${username}, oldest first`}
          rows={members}
          empty="No members yet."
          columns={[
            { heading: "Name", cell: ({ name }) => <Typed text={name} /> },
            { heading: "E-mail", cell: ({ email }) => <Typed text={email} /> },
            {
              heading: "State",
              cell: (member) => (
                <>
                  <MemberState of={member} now={now} />
                  {member.isHeld && (
                    <>
                      {" "}
                      <Badge state="address in use" tone="bad" />
                    </>
                  )}
                </>
              ),
            },
            {
              heading: "Second factor",
              cell: ({ totpSecret }) => (totpSecret === null ? "off" : "on"),
            },
            { heading: "Sessions", number: true, cell: ({ sessions }) => sessions },
            { heading: "Last sign-in (UTC)", cell: ({ signedInAt }) => <Time at={signedInAt} /> },
            {
              heading: "Role",
              cell: (member) => <Role of={member} path={path} mayChange={mayChange} />,
            },
            ...(mayChange
              ? [
                  {
                    heading: "Actions",
                    cell: (member: ShownMember) => <Actions of={member} path={path} isOn={isOn} />,
                  },
                ]
              : []),
          ]}
        />
        {(mayChange || mayView) && (
          <>
            <h2>{mayChange ? "Manage" : "Look"}</h2>
            <div class="columns">
              {mayChange && isOn && <Invite path={path} />}
              {mayChange && <Allowed allowed={allowed} path={path} />}
              {mayView && <ViewAs path={path} />}
            </div>
          </>
        )}
        <p class="actions">
          <a href={`/audit?user=${encodeURIComponent(username)}`}>Changes in the audit log</a>
        </p>
      </>
    ),
  };
}

function Role({
  of: { id, name, role },
  path,
  mayChange,
}: {
  of: Member;
  path: string;
  mayChange: boolean;
}) {
  if (!mayChange) return <>{role}</>;
  return (
    <Form action={`${path}/members/${id}/role`}>
      <Choice
        name="role"
        label={`Role of ${name}`}
        options={MEMBER_ROLES.toReversed()}
        value={role}
      />
      <button>Change</button>
    </Form>
  );
}

function Actions({
  of: { id, name, active, passwordHash, totpSecret, sessions },
  path,
  isOn,
}: {
  of: ShownMember;
  path: string;
  /** Whether the portal is served, so that a link leads somewhere. */
  isOn: boolean;
}) {
  const of = (
    <span class="hidden">
      {" "}
      <Typed text={name} />
    </span>
  );
  const button = (verb: string, text: string) => (
    <Form action={`${path}/members/${id}/${verb}`}>
      <button>
        {text}
        {of}
      </button>
    </Form>
  );
  return (
    <div class="actions">
      {button(active ? "disable" : "enable", active ? "Disable" : "Enable")}
      {isOn && active && passwordHash !== null && button("password", "Reset password")}
      {isOn && active && passwordHash === null && button("invite", "Invite again")}
      {totpSecret !== null && button("second-factor", "Remove second factor")}
      {sessions > 0 && button("sessions", `End ${counted(sessions, "session")}`)}
      <Fold action={`${path}/members/${id}/email`} summary="Change the e-mail">
        <Form action={`${path}/members/${id}/email`} submit="Change">
          <Field
            name="email"
            label={`New e-mail of ${name}`}
            hint="signs in with it at once"
            required
          />
        </Form>
      </Fold>
    </div>
  );
}

function Invite({ path }: { path: string }) {
  return (
    <section class="card">
      <h2>Invite a member</h2>
      <Form action={`${path}/members`} submit="Invite">
        <Field name="email" label="E-mail" hint="signs in with it" required />
        <Field name="name" label="Name" hint="empty: the e-mail address" />
        <Choice name="role" label="Role" options={ROLE_TEXTS} value="owner" />
        <Choice
          name="language"
          label="Language"
          options={LANGUAGES.map((language) => [language, LANGUAGE_NAMES[language]])}
        />
      </Form>
    </section>
  );
}

function Allowed({ allowed: { active, keys }, path }: { allowed: PortalSettings; path: string }) {
  return (
    <section class="card">
      <h2>Portal of this reseller</h2>
      <Form action={`${path}/portal/${active ? "off" : "on"}`}>
        <p class="actions">
          <Badge state={active ? "on" : "off"} tone={active ? "good" : "bad"} />
          <button>{active ? "Turn off" : "Turn on"}</button>
          <small>{active ? "its members are signed out" : "its members can sign in again"}</small>
        </p>
      </Form>
      <Form action={`${path}/portal/keys`} submit="Save">
        <Choice
          name="keys"
          label="Members may create"
          hint="only owners can create keys other than order keys"
          options={KEY_TEXTS}
          value={keys}
        />
      </Form>
    </section>
  );
}
