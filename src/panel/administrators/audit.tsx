// Audit log: who changed what, newest first.

/** @jsxImportSource preact */

import { listAuditEntries, type ListedAuditEntry } from "../../db/administrators/audit.ts";
import { findUser } from "../../db/users/users.ts";
import { AUDIT_ACTIONS, type AuditAction } from "../../domain/administrators/audit.ts";
import { isUsername } from "../../domain/users/users.ts";
import type { Call } from "../server/call.ts";
import type { View } from "../../web/server/results.ts";
import { Choice, Field, Filters } from "../../web/components/fields.tsx";
import { chipsOfFields, PageHead } from "../../web/components/page-head.tsx";
import { List, Pager } from "../../web/components/lists.tsx";
import { Time, Typed } from "../../web/components/shown.tsx";
import { userPath } from "../users/shown-user.ts";
import { Change, showEntries, Subject } from "./audit-entries.tsx";
import { AUDIT_WORDS } from "./audit-words.ts";

const PAGE = 50;
const CHIPS = {
  user: "User",
  action: (action: string) => AUDIT_WORDS[action as AuditAction] ?? action,
  subject: "Subject",
  by: "By",
  from: "From",
  to: "To",
};
const ACTIONS = AUDIT_ACTIONS.map((action) => [action, AUDIT_WORDS[action]] as const);

export async function auditPage(call: Call): Promise<View> {
  const { filters } = call;
  const username = filters.optionalUsername("user");
  const { from, to } = filters.window();
  const filter = {
    action: filters.optionalChoice("action", AUDIT_ACTIONS) ?? undefined,
    subject: filters.optionalText("subject") ?? undefined,
    by: filters.optionalText("by") ?? undefined,
    since: from ?? undefined,
    until: to ?? undefined,
    below: filters.below(),
    limit: PAGE + 1,
  };
  const entries = await call.read((reader) => {
    const user = username === null ? null : findUser(reader, username);
    if (user === undefined) filters.addError("user", "User not found");
    if (filters.errors.size > 0) return [];
    return showEntries(reader, listAuditEntries(reader, { ...filter, account: user?.account }));
  });
  const rows = entries.slice(0, PAGE);
  return {
    title: "Audit",
    body: (
      <>
        <PageHead title="Audit">
          <Filters action="/audit" filters={filters} chips={chipsOfFields(filters.values, CHIPS)}>
            <Field name="user" label="User concerned" />
            <Choice name="action" label="Action" options={ACTIONS} any="all" />
            <Field name="subject" label="Subject" />
            <Field name="by" label="By" />
            <Field name="from" label="From (UTC)" type="date" />
            <Field name="to" label="To (UTC)" type="date" />
          </Filters>
        </PageHead>
        <List
          caption="Changes, newest first"
          rows={rows}
          empty="No matching changes."
          columns={[
            {
              heading: "When (UTC)",
              place: "end",
              cell: ({ createdAt }) => <Time at={createdAt} short />,
            },
            { heading: "By", place: "first", cell: ({ by }) => <Typed text={by} /> },
            { heading: "Action", place: "title", cell: ({ action }) => AUDIT_WORDS[action] },
            { heading: "Subject", place: "second", cell: (entry) => <Subject entry={entry} /> },
            { heading: "User", cell: (entry) => <User entry={entry} /> },
            { heading: "Change", place: "foot", cell: (entry) => <Change entry={entry} /> },
          ]}
        />
        <Pager call={call} next={entries.length > PAGE ? rows.at(-1)!.seq : null} />
      </>
    ),
  };
}

function User({ entry: { username } }: { entry: ListedAuditEntry }) {
  // Test accounts have no page.
  if (username === null || !isUsername(username)) return <Typed text={username} />;
  return (
    <a href={userPath(username)}>
      <Typed text={username} />
    </a>
  );
}
