// Audit log: who changed what, newest first.

/** @jsxImportSource preact */

import { listAuditEntries, type ListedAuditEntry } from "../../db/administrators/audit.ts";
import { findUser } from "../../db/users/users.ts";
import { AUDIT_ACTIONS, type AuditFacts } from "../../domain/administrators/audit.ts";
import { formatMicros } from "../../domain/ledger/money.ts";
import { isUsername } from "../../domain/users/users.ts";
import type { Call } from "../server/call.ts";
import type { View } from "../../web/server/results.ts";
import { Choice, Field, Filters } from "../../web/components/fields.tsx";
import { List, Pager } from "../../web/components/lists.tsx";
import { Time, timeText, Typed } from "../../web/components/shown.tsx";
import { userPath } from "../users/shown-user.ts";
import { AUDIT_WORDS } from "./audit-words.ts";

const PAGE = 50;
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
    return listAuditEntries(reader, { ...filter, account: user?.account });
  });
  const rows = entries.slice(0, PAGE);
  return {
    title: "Audit",
    body: (
      <>
        <h1>Audit</h1>
        <Filters action="/audit" filters={filters}>
          <Field name="user" label="User concerned" />
          <Choice name="action" label="Action" options={ACTIONS} any="all" />
          <Field name="subject" label="Subject" />
          <Field
            name="by"
            label="By"
            hint="panel:NAME, or a user of the server's operating system"
          />
          <Field name="from" label="From" type="date" />
          <Field name="to" label="To" type="date" />
        </Filters>
        <List
          caption="Changes, newest first"
          rows={rows}
          empty="No matching changes."
          columns={[
            { heading: "When (UTC)", cell: ({ createdAt }) => <Time at={createdAt} /> },
            {
              heading: "By",
              cell: (entry) => <Typed text={entry.operator ?? `key ${entry.keyId}`} />,
            },
            { heading: "Action", cell: ({ action }) => AUDIT_WORDS[action] },
            { heading: "Subject", cell: (entry) => <Subject entry={entry} /> },
            { heading: "User", cell: (entry) => <User entry={entry} /> },
            { heading: "Change", cell: (entry) => <Change entry={entry} /> },
          ]}
        />
        <Pager call={call} next={entries.length > PAGE ? rows.at(-1)!.seq : null} />
      </>
    ),
  };
}

/** Shows what was changed, with a link if it has a page. */
export function Subject({ entry }: { entry: ListedAuditEntry }) {
  const path = pathOf(entry);
  const text = <Typed text={entry.subject} />;
  return path === null ? text : <a href={path}>{text}</a>;
}

/**
 * Returns the page of an entry's subject by the first word of the action. A user's page is found by its present name.
 */
function pathOf({ action, subject, username }: ListedAuditEntry): string | null {
  const [noun] = action.split(".");
  switch (noun) {
    case "order":
      return `/orders/${subject}`;
    case "service":
    case "grant":
    case "route":
      return `/services/${subject}`;
    case "provider":
      return `/providers/${subject}`;
    case "user":
      return userPath(username ?? subject);
    case "key":
    case "webhook":
      return username === null || !isUsername(username) ? null : `${userPath(username)}#${noun}s`;
    case "alert":
      return "/alerts";
    default:
      return null;
  }
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

/** Lists each field that differs, with its old and new value. */
function Change({ entry: { before, after } }: { entry: ListedAuditEntry }) {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  return (
    <ul class="changes">
      {after === null && <li>removed</li>}
      {names.map((name) => {
        const [was, is] = [textOf(name, before?.[name]), textOf(name, after?.[name])];
        if (was === "" && is === "") return null;
        return (
          <li>
            {name.replace(/Micros$/, "")}{" "}
            {was !== "" && (
              <del>
                <Typed text={was} />
              </del>
            )}{" "}
            {is !== "" && (
              <ins>
                <Typed text={is} />
              </ins>
            )}
          </li>
        );
      })}
    </ul>
  );
}

function textOf(name: string, value: AuditFacts[string] | undefined): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "bigint") return formatMicros(value);
  if (typeof value !== "number") return String(value);
  if (name.endsWith("Micros")) return formatMicros(value);
  return name.endsWith("At") ? timeText(value) : String(value);
}
