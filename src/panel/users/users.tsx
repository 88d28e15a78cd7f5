// Users: resellers and their child users, with balance, spending and last activity.

/** @jsxImportSource preact */

import type { User } from "../../db/users/users.ts";
import { findUser, findUserByAccount } from "../../db/users/users.ts";
import { readUserFigures, type UserFigures } from "../../db/users/user-figures.ts";
import { listUsersBelow } from "../../db/users/user-lists.ts";
import { mayAct } from "../../domain/administrators/administrators.ts";
import { USER_NAME_LENGTH_LIMIT, USERNAME_FORM } from "../../domain/users/users.ts";
import type { Call, Submission } from "../server/call.ts";
import type { Redirect, View } from "../../web/server/results.ts";
import { Choice, Field, Filters, Form } from "../../web/components/fields.tsx";
import { List, Pager } from "../../web/components/lists.tsx";
import { Badge, Cents, Time, Typed } from "../../web/components/shown.tsx";
import { userPath } from "./shown-user.ts";
import { createOrderKey } from "./user-keys.tsx";
import type { Panel } from "../server/panel.ts";

const PAGE = 50;
/** Limit for the counted orders of each user and status. */
const COUNTED = 1000;
/** Value of the button that also makes a key. */
const WITH_KEY = "key";

interface Row extends User {
  figures: UserFigures;
  parent: string | null;
}

export async function usersPage(call: Call): Promise<View> {
  const { filters } = call;
  const kind = filters.optionalChoice("kind", ["reseller", "child"]);
  const state = filters.optionalChoice("state", ["active", "inactive"]);
  const search = filters.optionalText("search");
  const parent = filters.optionalUsername("parent");
  const { rows, next } = await call.read((reader) => {
    const reseller = parent === null ? null : findUser(reader, parent);
    if (reseller === undefined) filters.addError("parent", "User not found");
    if (filters.errors.size > 0) return { rows: [], next: null };
    const filter = {
      search,
      parentAccount: reseller?.account,
      isChild: kind && kind === "child",
      active: state && state === "active",
    };
    const page = listUsersBelow(reader, filter, filters.below(), PAGE);
    return {
      rows: reader.each(page.rows, (user): Row => {
        const { parentAccount: parent } = user;
        return {
          ...user,
          figures: readUserFigures(reader, user.account, COUNTED),
          parent: parent === null ? null : findUserByAccount(reader, parent)!.username,
        };
      }),
      next: page.next,
    };
  });
  return {
    title: "Resellers",
    body: (
      <>
        <h1>Resellers</h1>
        <Filters action="/users" filters={filters}>
          <Field name="search" label="Name contains" />
          <Choice
            name="kind"
            label="Kind"
            any="all"
            options={[
              ["reseller", "resellers"],
              ["child", "child users"],
            ]}
          />
          <Field name="parent" label="Child users of" />
          <Choice name="state" label="State" any="any" options={["active", "inactive"]} />
        </Filters>
        <List
          caption="Users, newest first"
          rows={rows}
          empty="No matching users."
          columns={[
            {
              heading: "User",
              cell: ({ username }) => <a href={`/users/${username}`}>{username}</a>,
            },
            { heading: "Name", cell: ({ name }) => <Typed text={name} /> },
            {
              heading: "Kind",
              cell: (user) => (
                <>
                  {user.parent === null ? "reseller" : `child of ${user.parent}`}{" "}
                  {!user.active && <Badge state="inactive" />}
                </>
              ),
            },
            {
              heading: "Balance USD",
              number: true,
              cell: ({ balanceMicros }) => <Cents micros={balanceMicros} />,
            },
            {
              heading: "Spent USD",
              number: true,
              cell: (user) => <Cents micros={user.depositedMicros - user.balanceMicros} />,
            },
            {
              heading: "Orders",
              number: true,
              cell: ({ username, figures }) => (
                <a href={`/orders?user=${encodeURIComponent(username)}`}>
                  {countText(figures, COUNTED)}
                </a>
              ),
            },
            { heading: "Last order", cell: ({ figures }) => <Time at={figures.lastOrderAt} /> },
            { heading: "Key last used", cell: ({ figures }) => <Time at={figures.keyUsedAt} /> },
          ]}
        />
        <Pager call={call} next={next} />
        {mayAct(call.visitor.administrator.role, "operator") && (
          <>
            <h2>New user</h2>
            <Form action="/users">
              <Field name="username" label="Username" hint={USERNAME_FORM} required />
              <Field name="name" label="Name" hint="a display name; empty: the username" />
              <Field
                name="parent"
                label="Reseller"
                hint="only for a child user; leave empty to create a reseller"
              />
              <p class="actions">
                <button class="primary">Create the user</button>
                <button name="with" value={WITH_KEY}>
                  Create with an order key
                </button>
              </p>
            </Form>
          </>
        )}
      </>
    ),
  };
}

/** Returns `1000+` if the count of a status reached its limit. */
export function countText({ orders }: UserFigures, most: number): string {
  const counts = Object.values(orders);
  const sum = counts.reduce((all, count) => all + count, 0);
  return counts.some((count) => count >= most) ? `${sum}+` : String(sum);
}

export async function createUser(submission: Submission, panel: Panel): Promise<Redirect | View> {
  const { form } = submission;
  const username = form.username("username");
  const name = form.optionalText("name", USER_NAME_LENGTH_LIMIT) ?? username;
  const parent = form.optionalUsername("parent");
  const withKey = form.raw("with") === WITH_KEY;
  if (withKey && parent !== null) form.addError("parent", "A child user cannot hold a key");
  await submission.submit("addUser", { username, name, parent });
  if (withKey) {
    try {
      return await createOrderKey(submission, username);
    } catch (error) {
      // The user exists by now, so the error must not read as if nothing was done.
      panel.log.error({ error: String(error) }, "panel: the first key of a new user was not made");
      return {
        to: userPath(username),
        note: `${username} was created, but no key: make one here.`,
      };
    }
  }
  return { to: userPath(username), note: `${username} was created.` };
}
