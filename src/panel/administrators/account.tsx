// Own account: the password, the second factor, and the sessions of the signed-in administrator.

/** @jsxImportSource preact */

import { PANEL_SIGN_INS } from "../../db/administrators/administrators.ts";
import type { SignInSession } from "../../db/tables/sign-ins.ts";
import {
  DEFAULT_TIME_ZONE,
  PASSWORD_FORM,
  timeZones,
} from "../../domain/administrators/administrators.ts";
import { isSessionLive } from "../../domain/sign-ins/sign-ins.ts";
import type { Call, Submission } from "../server/call.ts";
import type { Panel } from "../server/panel.ts";
import type { Redirect, View } from "../../web/server/results.ts";
import { Choice, Field, Form, ForUser } from "../../web/components/fields.tsx";
import { Facts, List } from "../../web/components/lists.tsx";
import { newPassword } from "./set-up.tsx";
import { Time, Typed } from "../../web/components/shown.tsx";

export async function accountPage(call: Call, panel: Panel): Promise<View> {
  const { person, session } = call.visitor.identity();
  const { name, role, totpSecret, timeZone } = person;
  const all = await call.read((reader) => PANEL_SIGN_INS.listSessionsOf(reader, name));
  const sessions = all.filter((each) => isSessionLive("panel", each, panel.now()));
  return {
    title: "Account",
    body: (
      <>
        <h1>Account</h1>
        <Facts
          facts={[
            ["Name", name],
            ["Role", role],
            [
              "Second factor",
              totpSecret === null ? (
                <Form action="/account/second-factor/offer">
                  <div class="inline">
                    off
                    <button>
                      Set up<span class="hidden"> the second factor</span>
                    </button>
                  </div>
                </Form>
              ) : (
                <>
                  on{" "}
                  <a href="/account/second-factor">
                    Remove<span class="hidden"> the second factor</span>
                  </a>
                </>
              ),
            ],
          ]}
        />
        <h2>Sessions</h2>
        <Sessions sessions={sessions} own={session.id} action="/account/sessions" />
        <h2>Times</h2>
        <Form action="/account/time-zone" submit="Save the time zone">
          <Choice
            name="zone"
            label="Time zone"
            hint="of the times that you see; the days of totals and charts begin at 0:00 UTC"
            options={timeZones()}
            value={timeZone ?? DEFAULT_TIME_ZONE}
          />
        </Form>
        <h2>Password</h2>
        <Form action="/account/password" submit="Change the password">
          <ForUser name={name} />
          <Field
            name="current"
            label="Present password"
            type="password"
            autocomplete="current-password"
            required
          />
          <Field
            name="password"
            label="New password"
            hint={`${PASSWORD_FORM}. Your other sessions end.`}
            type="password"
            autocomplete="new-password"
            required
          />
        </Form>
      </>
    ),
  };
}

export function Sessions({
  sessions,
  own,
  action,
}: {
  sessions: readonly SignInSession[];
  /** Id of the session that shows this page. */
  own: string;
  action: string;
}) {
  return (
    <List
      caption="Sessions"
      rows={sessions}
      empty="No sessions."
      columns={[
        { heading: "Administrator", cell: ({ person }) => person },
        { heading: "Signed in", cell: ({ createdAt }) => <Time at={createdAt} /> },
        { heading: "Last use", cell: ({ seenAt }) => <Time at={seenAt} /> },
        { heading: "Address", cell: ({ address }) => address },
        { heading: "Browser", cell: ({ userAgent }) => <Typed text={userAgent} /> },
        {
          heading: "End",
          cell: ({ id, person }) =>
            id === own ? (
              "this one"
            ) : (
              <Form action={action} hidden={{ session: id, name: person }}>
                <button>
                  End<span class="hidden"> session of {person}</span>
                </button>
              </Form>
            ),
        },
      ]}
    />
  );
}

export async function changeTimeZone(submission: Submission): Promise<Redirect> {
  const zone = submission.form.choice("zone", timeZones());
  submission.form.check();
  const { name } = submission.visitor.administrator;
  const timeZone = zone === DEFAULT_TIME_ZONE ? null : zone;
  await submission.submit("setTimeZone", { name, timeZone });
  return { to: "/account", note: `Times are shown in ${zone}.` };
}

export async function endOwnSession(submission: Submission): Promise<Redirect> {
  const { name: person } = submission.visitor.administrator;
  const session = submission.form.text("session");
  await submission.submit("revokeSessions", { site: "panel", person, session });
  return { to: "/account", note: "The session has ended." };
}

export async function changePassword(submission: Submission, panel: Panel): Promise<Redirect> {
  const { form, visitor } = submission;
  const current = form.secret("current");
  if (current === "") form.addError("current", "current is required");
  const password = newPassword(submission);
  form.check();
  const attempt = await visitor.beginPasswordChange(current).catch((error: unknown) => {
    form.addError("current", "Wrong password");
    throw error;
  });
  const passwordHash = await panel.passwords.hash(password);
  const { name: person } = visitor.administrator;
  await submission.submit("setPassword", { site: "panel", person, passwordHash });
  const cookie = await visitor.renewSession(attempt, passwordHash, true);
  return {
    to: "/account",
    note: "The password was changed. Your other sessions have ended.",
    cookie,
  };
}
