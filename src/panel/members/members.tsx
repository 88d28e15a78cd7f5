// Members of all resellers: who can sign in to the portal.

/** @jsxImportSource preact */

import { listMembersBelow } from "../../db/members/member-lists.ts";
import { MEMBER_ROLES } from "../../domain/members/members.ts";
import { showHidden } from "../../domain/values/text.ts";
import { Choice, Field, Filters } from "../../web/components/fields.tsx";
import { List, Pager } from "../../web/components/lists.tsx";
import { PageHead, Tabs } from "../../web/components/page-head.tsx";
import { Time, Typed } from "../../web/components/shown.tsx";
import type { View } from "../../web/server/results.ts";
import type { Call } from "../server/call.ts";
import type { Panel } from "../server/panel.ts";
import { userPath } from "../users/shown-user.ts";
import { MemberState, PortalOff } from "./shown-member.tsx";

const PAGE = 100;

export function MemberTabs({
  chosen,
  waiting,
}: {
  chosen: "members" | "registrations" | "notices" | "mails";
  /** Number of registrations that wait. */
  waiting: number;
}) {
  return (
    <Tabs
      label="Members, registrations, notices and e-mails"
      tabs={[
        { text: "Members", href: "/members", isChosen: chosen === "members" },
        {
          text: "Registrations",
          href: "/members/registrations",
          isChosen: chosen === "registrations",
          count: String(waiting),
        },
        { text: "Notices", href: "/members/notices", isChosen: chosen === "notices" },
        { text: "E-mails", href: "/members/mails", isChosen: chosen === "mails" },
      ]}
    />
  );
}

export async function membersPage(call: Call, panel: Panel): Promise<View> {
  const { filters, visitor } = call;
  const search = filters.optionalText("search");
  const role = filters.optionalChoice("role", MEMBER_ROLES);
  const state = filters.optionalChoice("state", ["enabled", "disabled"]);
  const { rows, next } = await call.read((reader) => {
    if (filters.errors.size > 0) return { rows: [], next: null };
    const active = state === null ? null : state === "enabled";
    return listMembersBelow(reader, { search, role, active }, filters.below(), PAGE);
  });
  return {
    title: "Members",
    body: (
      <>
        <PageHead title="Members" />
        <MemberTabs chosen="members" waiting={visitor.waitingRegistrations} />
        <PortalOff panel={panel} />
        <p>
          Members are the people of your resellers who sign in to the portal. Invite the first one
          on a reseller's page.
        </p>
        <Filters action="/members" filters={filters}>
          <Field name="search" label="Name, e-mail or reseller" />
          <Choice name="role" label="Role" any="any" options={MEMBER_ROLES.toReversed()} />
          <Choice name="state" label="State" any="any" options={["enabled", "disabled"]} />
        </Filters>
        <List
          caption="Members, newest first"
          compact
          rows={rows}
          empty="No matching members."
          columns={[
            {
              heading: "Name",
              place: "title",
              grow: true,
              title: ({ name }) => showHidden(name),
              cell: ({ name }) => <Typed text={name} />,
            },
            {
              heading: "E-mail",
              place: "first",
              title: ({ email }) => showHidden(email),
              cell: ({ email }) => <Typed text={email} />,
            },
            {
              heading: "Reseller",
              place: "second",
              cell: ({ username }) => (
                <a href={`${userPath(username)}/members`}>
                  <Typed text={username} />
                </a>
              ),
            },
            { heading: "Role", place: "third", cell: ({ role: its }) => its },
            {
              heading: "State",
              place: "state",
              cell: (member) => <MemberState of={member} now={panel.now()} />,
            },
            {
              heading: "Second factor",
              wide: true,
              cell: ({ totpSecret }) => (totpSecret === null ? "off" : "on"),
            },
            {
              heading: "Last sign-in",
              place: "end",
              cell: ({ signedInAt }) => <Time at={signedInAt} short />,
            },
          ]}
        />
        <Pager call={call} next={next} />
      </>
    ),
  };
}
