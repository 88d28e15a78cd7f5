// The sessions of the signed-in member: where it is signed in, and how to end the others.

/** @jsxImportSource preact */

import type { SignInSession } from "../../db/tables/sign-ins.ts";
import { browserText } from "../../domain/sign-ins/browsers.ts";
import { Form } from "../../web/components/fields.tsx";
import { List } from "../../web/components/lists.tsx";
import { Typed } from "../../web/components/shown.tsx";
import type { Redirect } from "../../web/server/results.ts";
import { Time } from "../parts/shown.tsx";
import type { Submission } from "../server/call.ts";
import type { Visitor } from "../server/visitor.ts";

/** Limit for the sessions that are shown at once. A click shows the others. */
const FEW = 5;

interface SessionsProps {
  visitor: Visitor;
  /** The most recently used first. */
  sessions: readonly SignInSession[];
  /** The id of the one that shows this page. */
  own: string;
}

export function Sessions({ visitor, sessions, own }: SessionsProps) {
  const { t } = visitor;
  const isOwn = ({ id }: SignInSession) => id === own;
  const sorted = [...sessions.filter(isOwn), ...sessions.filter((each) => !isOwn(each))];
  const more = sorted.slice(FEW);
  return (
    <>
      <h2>{t("settings.sessions")}</h2>
      <Listed visitor={visitor} sessions={sorted.slice(0, FEW)} own={own} />
      {more.length > 0 && (
        <details>
          <summary>{t("settings.moreSessions", { count: more.length })}</summary>
          <Listed visitor={visitor} sessions={more} own={own} />
        </details>
      )}
      {sorted.length > 1 && (
        <Form action="/settings/sessions/others">
          <p class="actions">
            <button>{t("settings.endOthers")}</button>
          </p>
        </Form>
      )}
    </>
  );
}

function Listed({ visitor, sessions, own }: SessionsProps) {
  const { t } = visitor;
  return (
    <List
      caption={t("settings.sessions")}
      rows={sessions}
      empty={t("site.none")}
      columns={[
        {
          heading: t("settings.browser"),
          title: ({ userAgent }) => userAgent,
          cell: ({ userAgent }) => <Typed text={browserText(userAgent)} />,
        },
        { heading: t("settings.address"), cell: ({ address }) => address },
        {
          heading: t("settings.signedIn"),
          cell: ({ createdAt }) => <Time at={createdAt} visitor={visitor} />,
        },
        {
          heading: t("settings.lastUse"),
          cell: ({ seenAt }) => <Time at={seenAt} visitor={visitor} />,
        },
        {
          heading: t("team.actions"),
          cell: ({ id }) =>
            id === own ? (
              t("settings.thisOne")
            ) : (
              <Form action="/settings/sessions" hidden={{ session: id }}>
                <button>{t("settings.end")}</button>
              </Form>
            ),
        },
      ]}
    />
  );
}

export async function endOwnSession(submission: Submission): Promise<Redirect> {
  const { form, visitor } = submission;
  const session = form.text("session");
  const { id: person } = visitor.member;
  await submission.submit("revokeSessions", { site: "portal", person, session });
  return { to: "/settings", note: visitor.t("settings.ended") };
}

/** Ends all sessions of the member but the one that asks. */
export async function endOtherSessions(submission: Submission): Promise<Redirect> {
  const { visitor } = submission;
  const { person, session } = visitor.identity();
  const all = { site: "portal", person: person.id, session: null, except: session.id } as const;
  await submission.submit("revokeSessions", all);
  return { to: "/settings", note: visitor.t("settings.othersEnded") };
}
