// Administrators: invitations, roles, sessions, enabling and disabling. For owners only.

/** @jsxImportSource preact */

import { ADMINISTRATOR_NAME } from "../../domain/values/kinds.ts";
import type { Administrator } from "../../db/tables/administrators.ts";
import {
  findAdministrator,
  listAdministrators,
  PANEL_SIGN_INS,
} from "../../db/administrators/administrators.ts";
import { ADMINISTRATOR_NAME_FORM, ROLES } from "../../domain/administrators/administrators.ts";
import { refusal } from "../../domain/values/error-table.ts";
import { INVITATION_TIME, isSessionLive } from "../../domain/sign-ins/sign-ins.ts";
import { Sessions } from "./account.tsx";
import type { Call, Submission } from "../server/call.ts";
import type { Panel } from "../server/panel.ts";
import type { Redirect, View } from "../../web/server/results.ts";
import { Choice, Field, Form } from "../../web/components/fields.tsx";
import { List } from "../../web/components/lists.tsx";
import { baseOf } from "../../web/server/origin.ts";
import { setUpLink } from "../server/invitations.ts";
import { newToken } from "../../web/sessions/tokens.ts";
import { Badge, Time } from "../../web/components/shown.tsx";

const ROLE_TEXTS = [
  ["support", "support: reads, notes"],
  ["operator", "operator: orders, services, providers, users, keys"],
  ["owner", "owner: everything"],
] as const;

export async function administratorsPage(call: Call, panel: Panel): Promise<View> {
  const now = panel.now();
  const { administrators, sessions } = await call.read((reader) => ({
    administrators: listAdministrators(reader),
    sessions: PANEL_SIGN_INS.listSessions(reader).filter((session) =>
      isSessionLive("panel", session, now),
    ),
  }));
  return {
    title: "Administrators",
    body: (
      <>
        <h1>Administrators</h1>
        <List
          caption="Administrators"
          rows={administrators}
          empty="No administrators."
          columns={[
            { heading: "Name", cell: ({ name }) => name },
            { heading: "State", cell: (each) => <Badge {...stateOf(each, now)} /> },
            { heading: "Second factor", cell: ({ totpSecret }) => (totpSecret ? "on" : "off") },
            { heading: "Last sign-in", cell: ({ signedInAt }) => <Time at={signedInAt} /> },
            {
              heading: "Role",
              cell: ({ name, role }) => (
                <Form action={`/administrators/${name}/role`}>
                  <Choice name="role" label={`Role of ${name}`} options={ROLES} value={role} />
                  <button>Change</button>
                </Form>
              ),
            },
            { heading: "Actions", cell: (each) => <Actions administrator={each} /> },
          ]}
        />
        <h2>Invite</h2>
        <Form action="/administrators" submit="Invite">
          <Field name="name" label="Name" hint={ADMINISTRATOR_NAME_FORM} required />
          <Choice name="role" label="Role" options={ROLE_TEXTS} />
        </Form>
        <h2>Sessions</h2>
        <Sessions
          sessions={sessions}
          own={call.visitor.identity().session.id}
          action="/administrators/sessions"
        />
      </>
    ),
  };
}

function stateOf({ active, passwordHash, invitedUntil }: Administrator, now: number) {
  if (!active) return { state: "disabled", tone: "quiet" as const };
  if (passwordHash !== null) return { state: "active", tone: "good" as const };
  const isOpen = invitedUntil !== null && invitedUntil > now;
  return { state: isOpen ? "invited" : "invitation expired", tone: "busy" as const };
}

function Actions({
  administrator: { name, active, totpSecret },
}: {
  administrator: Administrator;
}) {
  const of = <span class="hidden"> {name}</span>;
  return (
    <div class="actions">
      <Form action={`/administrators/${name}/${active ? "disable" : "enable"}`}>
        <button>
          {active ? "Disable" : "Enable"}
          {of}
        </button>
      </Form>
      {totpSecret !== null && (
        <Form action={`/administrators/${name}/second-factor`}>
          <button>Remove second factor{of}</button>
        </Form>
      )}
    </div>
  );
}

/** Invites an administrator. The link is shown once. */
export async function invite(submission: Submission, panel: Panel): Promise<View> {
  const { form, visitor } = submission;
  const name = form.required("name", ADMINISTRATOR_NAME, "");
  const role = form.choice("role", ROLES);
  if (role === "owner") {
    await submission.confirm({
      title: `Invite ${name} as an owner`,
      moves: [],
      isSensitive: true,
      details: <p>An owner may do everything, and can disable you.</p>,
    });
  }
  const { token, invitationHash } = newToken();
  await submission.submit("inviteAdministrator", { name, role, invitationHash });
  const base = baseOf(visitor.request, panel.settings);
  return {
    title: "Invitation",
    body: (
      <div class="narrow">
        <h1>Invitation for {name}</h1>
        <p>
          Give {name} this link over a channel that nobody else can read. It works once, for{" "}
          {INVITATION_TIME}, and cannot be shown again.
        </p>
        <pre id="link">{setUpLink(base, token)}</pre>
        <p class="actions">
          <button type="button" data-copy="link" hidden>
            Copy
          </button>
          <a href="/administrators">To the administrators</a>
        </p>
      </div>
    ),
  };
}

export async function changeRole(submission: Submission): Promise<Redirect> {
  const name = submission.params["name"]!;
  const role = submission.form.choice("role", ROLES);
  const found = await administratorOf(submission);
  if (role !== found.role) {
    await submission.confirm({
      title: `Give ${name} the role ${role}`,
      moves: [],
      isSensitive: true,
      details: (
        <p>
          {whose(submission, name)} role was {found.role}. All sessions of {name} end.
        </p>
      ),
    });
  }
  await submission.submit("setAdministratorRole", { name, role });
  return { to: "/administrators", note: `${name} has the role ${role}.` };
}

export async function disable(submission: Submission): Promise<Redirect> {
  const name = submission.params["name"]!;
  const isSelf = name === submission.visitor.administrator.name;
  await submission.confirm({
    title: `Disable ${name}`,
    moves: [],
    danger: true,
    isSensitive: true,
    details: (
      <p>
        {isSelf ? "That is you: you are signed out, and" : `${name} is signed out, and`} cannot sign
        in until an owner enables {isSelf ? "you" : "the name"} again.
      </p>
    ),
  });
  await submission.submit("setAdministratorActive", { name, active: false });
  return { to: "/administrators", note: `${name} is disabled, and signed out.` };
}

export async function enable(submission: Submission): Promise<Redirect> {
  const name = submission.params["name"]!;
  const { role } = await administratorOf(submission);
  if (role === "owner") {
    await submission.confirm({ title: `Enable the owner ${name}`, moves: [], isSensitive: true });
  }
  await submission.submit("setAdministratorActive", { name, active: true });
  return { to: "/administrators", note: `${name} is enabled.` };
}

export async function removeOthersSecondFactor(submission: Submission): Promise<Redirect> {
  const name = submission.params["name"]!;
  await submission.confirm({
    title: `Remove the second factor of ${name}`,
    moves: [],
    details: <p>Until {name} sets up another, the password alone is enough.</p>,
    danger: true,
    isSensitive: true,
  });
  await submission.submit("removeSecondFactor", { site: "panel", person: name });
  return { to: "/administrators", note: `${name} has no second factor now, and is signed out.` };
}

export async function endOthersSession(submission: Submission): Promise<Redirect> {
  const name = submission.form.text("name");
  const session = submission.form.text("session");
  await submission.submit("revokeSessions", { site: "panel", person: name, session });
  return { to: "/administrators", note: `A session of ${name} has ended.` };
}

async function administratorOf(submission: Submission): Promise<Administrator> {
  const found = await submission.read((reader) =>
    findAdministrator(reader, submission.params["name"]!),
  );
  if (!found) throw refusal("administrator_not_found");
  return found;
}

function whose(submission: Submission, name: string): string {
  return name === submission.visitor.administrator.name ? "That is you: your" : "The";
}
