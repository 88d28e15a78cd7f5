// Users: resellers and their child users, with balance, spending and last activity.

/** @jsxImportSource preact */

import { useContext } from "preact/hooks";
import { type AccountTotals, readAccountTotals } from "../../db/reports/reseller-spend.ts";
import {
  firstShownDay,
  type KeyRequests,
  readAccountRequests,
} from "../../db/users/key-requests.ts";
import { readUserFigures, type UserFigures } from "../../db/users/user-figures.ts";
import { type ListedUser, listUsersBelow } from "../../db/users/user-lists.ts";
import {
  listSortedUsers,
  SORTED_LIMIT,
  USER_SORTS,
  type UserOrder,
} from "../../db/users/user-sorting.ts";
import { findUser } from "../../db/users/users.ts";
import { mayAct } from "../../domain/administrators/administrators.ts";
import { USER_NAME_LENGTH_LIMIT, USERNAME_FORM } from "../../domain/users/users.ts";
import { EMAIL } from "../../domain/values/kinds.ts";
import { showHidden } from "../../domain/values/text.ts";
import { Choice, Field, Filters, Form, Refused } from "../../web/components/fields.tsx";
import { List, Pager, type Sorting } from "../../web/components/lists.tsx";
import { type Chip, PageHead, Pop } from "../../web/components/page-head.tsx";
import { Badge, Cents, Time, Typed } from "../../web/components/shown.tsx";
import type { Form as Values } from "../../web/server/form.ts";
import type { Redirect, View } from "../../web/server/results.ts";
import type { Call, Submission } from "../server/call.ts";
import type { Panel } from "../server/panel.ts";
import { userPath } from "./shown-user.ts";
import { createOrderKey } from "./user-keys.tsx";

const PAGE = 50;
/** Limit for the counted orders of each user and status: only times are shown. */
const COUNTED = 0;
/** Value of the button that also makes a key. */
const WITH_KEY = "key";

/** UTC days, with today, of which spend and errors are shown. */
const DAYS = 30;

interface Row extends ListedUser {
  figures: UserFigures;
  totals: AccountTotals;
  requests: KeyRequests;
}

export async function usersPage(call: Call, panel: Panel): Promise<View> {
  const { filters } = call;
  const kind = filters.optionalChoice("kind", ["reseller", "child"]);
  const state = filters.optionalChoice("state", ["active", "inactive"]);
  const search = filters.optionalText("search");
  const parent = filters.optionalUsername("parent");
  const now = panel.now();
  const order = orderOf(filters);
  const { rows, next, isCut } = await call.read((reader) => {
    const reseller = parent === null ? null : findUser(reader, parent);
    if (reseller === undefined) filters.addError("parent", "User not found");
    if (filters.errors.size > 0) return { rows: [], next: null, isCut: false };
    const filter = {
      search,
      parentAccount: reseller?.account,
      isChild: kind && kind === "child",
      active: state && state === "active",
    };
    const page = order
      ? listSortedUsers(reader, filter, order, filters.below(), PAGE, now)
      : { ...listUsersBelow(reader, filter, filters.below(), PAGE), isCut: false };
    const accounts = page.rows.map(({ account }) => account);
    const totalsOf = readAccountTotals(reader, accounts, DAYS, now);
    const requestsOf = readAccountRequests(reader, accounts, firstShownDay(now));
    return {
      rows: reader.each(page.rows, (user): Row => {
        const { account } = user;
        const figures = readUserFigures(reader, account, COUNTED);
        return { ...user, figures, totals: totalsOf(account), requests: requestsOf(account) };
      }),
      next: page.next,
      isCut: page.isCut,
    };
  });
  const { role } = call.visitor.administrator;
  return {
    title: "Resellers",
    body: (
      <>
        <PageHead title="Resellers">
          {isCut && (
            <small>only the newest {SORTED_LIMIT.toLocaleString("en-US")} are sorted</small>
          )}
          <Search filters={filters} />
          <Filters action="/users" filters={filters} chips={chipsOf(filters)}>
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
            {order && <input type="hidden" name="sort" value={filters.raw("sort")} />}
          </Filters>
          {mayAct(role, "operator") && (
            <span class="inline end">
              <NewUser mayImport={mayAct(role, "owner")} />
            </span>
          )}
        </PageHead>
        <List
          caption={order ? "Users" : "Users, newest first"}
          compact
          sorting={sortingOf(call, order)}
          rows={rows}
          empty="No matching users."
          columns={[
            {
              heading: "User",
              sort: "username",
              place: "title",
              cell: (user) => (
                <>
                  {!user.active && (
                    <>
                      <Badge state="inactive" />{" "}
                    </>
                  )}
                  <a href={userPath(user.username)}>{user.username}</a>
                </>
              ),
            },
            {
              heading: "Name",
              sort: "name",
              grow: true,
              place: "second",
              title: ({ name, email }) => showHidden(email === null ? name : `${name}, ${email}`),
              // Often it is the username once more.
              cell: ({ name, username }) => <Typed text={name === username ? null : name} />,
            },
            {
              heading: "Kind",
              sort: "kind",
              wide: true,
              cell: (user) => (user.parent === null ? "reseller" : `child of ${user.parent}`),
            },
            {
              heading: "Balance USD",
              sort: "balance",
              number: true,
              place: "end",
              cell: ({ balanceMicros }) => <Cents micros={balanceMicros} />,
            },
            {
              heading: "Spent in 30 days",
              sort: "spent",
              number: true,
              cell: ({ totals }) => <Cents micros={totals.spentMicros} />,
            },
            {
              heading: "Orders in 30 days",
              sort: "orders",
              number: true,
              cell: ({ username, totals }) => (
                <a href={`/orders?user=${encodeURIComponent(username)}&days=${DAYS}`}>
                  {totals.orders}
                </a>
              ),
            },
            {
              heading: "Last order",
              sort: "last-order",
              place: "first",
              cell: ({ figures }) => <Time at={figures.lastOrderAt} />,
            },
            {
              heading: "Key last used",
              sort: "key-used",
              wide: true,
              cell: ({ figures }) => <Time at={figures.keyUsedAt} />,
            },
            {
              heading: "Errors in 30 days",
              sort: "errors",
              number: true,
              wide: true,
              title: ({ requests }) => `of ${requests.requests} requests`,
              cell: ({ requests }) => requests.errors,
            },
          ]}
        />
        <Pager call={call} next={next} />
      </>
    ),
  };
}

/** Reads the order of the list: `name`, or `-name` for the highest first; null: newest first. */
function orderOf(filters: Values): UserOrder | null {
  const given = filters.raw("sort");
  const by = USER_SORTS.find((sort) => sort === given.replace(/^-/, ""));
  return by ? { by, descending: given.startsWith("-") } : null;
}

/** Numbers and times begin with the highest. */
const ASCENDING_FIRST: readonly string[] = ["username", "name", "kind"];

function sortingOf({ filters }: Call, order: UserOrder | null): Sorting {
  return {
    by: order?.by ?? "",
    isDescending: order?.descending ?? true,
    href(sort) {
      const query = new URLSearchParams(filters.values);
      for (const name of ["below", "earlier"]) query.delete(name);
      const descending = order?.by === sort ? !order.descending : !ASCENDING_FIRST.includes(sort);
      query.set("sort", descending ? `-${sort}` : sort);
      return `/users?${query}`;
    },
  };
}

/** The field that is always in sight. It keeps the filters that are set. */
function Search({ filters }: { filters: Values }) {
  return (
    <form method="get" action="/users" class="inline" role="search" aria-label="Resellers">
      <input
        type="search"
        name="search"
        value={filters.raw("search")}
        placeholder="Name or e-mail"
        aria-label="Name or e-mail contains"
      />
      {["kind", "parent", "state", "sort"].map(
        (name) =>
          filters.raw(name) !== "" && <input type="hidden" name={name} value={filters.raw(name)} />,
      )}
      <button>Search</button>
    </form>
  );
}

function chipsOf(filters: Values): Chip[] {
  const texts = { search: "Name", kind: "Kind", parent: "Child users of", state: "State" };
  return Object.entries(texts).flatMap(([name, text]) => {
    const value = filters.raw(name);
    const shown = (
      <>
        {text}: <Typed text={value} />
      </>
    );
    return value === "" ? [] : [{ names: [name], text: shown }];
  });
}

/** `mayImport`: a list may create credit, which is an owner's. */
function NewUser({ mayImport }: { mayImport: boolean }) {
  return (
    <Pop button="New reseller" primary atEnd open={useContext(Refused)?.action === "/users"}>
      <Form action="/users">
        <Field name="username" label="Username" hint={USERNAME_FORM} required />
        <Field name="name" label="Name" hint="a display name; empty: the username" />
        <Field name="email" label="E-mail" hint="only operators see it" />
        <Field
          name="parent"
          label="Reseller"
          hint="only for a child user; leave empty to create a reseller"
        />
        <p class="actions">
          <button class="primary" name="with" value={WITH_KEY}>
            Create with an order key
          </button>
          <button>Create the user</button>
        </p>
        {mayImport && <a href="/import-users">Import a list</a>}
      </Form>
    </Pop>
  );
}

export async function createUser(submission: Submission, panel: Panel): Promise<Redirect | View> {
  const { form } = submission;
  const username = form.username("username");
  const name = form.optionalText("name", USER_NAME_LENGTH_LIMIT) ?? username;
  const parent = form.optionalUsername("parent");
  const email = form.optional("email", EMAIL, "");
  const withKey = form.raw("with") === WITH_KEY;
  if (withKey && parent !== null) form.addError("parent", "A child user cannot hold a key");
  await submission.submit("addUser", { username, name, parent, ...(email !== null && { email }) });
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
