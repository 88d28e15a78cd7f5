// Import of users with starting credits: all rows of a list, or none if one is wrong. Every wrong row is shown.

/** @jsxImportSource preact */

import { headerOf, USER_COLUMNS } from "../../domain/users/list-columns.ts";
import type { ImportProblem } from "../../domain/users/refusals.ts";
import { Refusal, refusal } from "../../domain/values/error-table.ts";
import { counted } from "../../domain/values/text.ts";
import { type RowError, wrongRows } from "../../imports/records.ts";
import { readUsers } from "../../imports/users.ts";
import { type NewUserRow, planUsers, type UserPlan } from "../../operations/users/user-import.ts";
import { Area, Form } from "../../web/components/fields.tsx";
import { List } from "../../web/components/lists.tsx";
import { Money, moneyText, Typed } from "../../web/components/shown.tsx";
import { shownRefusal } from "../../web/server/refusals.ts";
import type { Redirect, View } from "../../web/server/results.ts";
import {
  FILE,
  importView,
  More,
  readList,
  shownAgain,
  SHOWN_LIMIT,
} from "../imports/import-rows.tsx";
import type { Submission } from "../server/call.ts";

const PATH = "/import-users";

export function importPage(): View {
  return view([]);
}

function view(wrong: readonly RowError[]): View {
  return importView(
    "Import users",
    wrong,
    <Form action={PATH} submit="Preview the users">
      <Area
        name="csv"
        label="Users as CSV"
        hint={`The first line: ${headerOf(USER_COLUMNS).replaceAll(",", ", ")}; only username must be there. A credit needs a reference, with which it is made once. Users that exist are not changed. All rows are imported, or none.`}
        rows={16}
        required
      />
    </Form>,
  );
}

export async function importUsers(submission: Submission): Promise<Redirect | View> {
  const { form } = submission;
  const list = readList(submission, (text) => readUsers(FILE, text));
  const users = list.rows;
  const again = (refused: readonly ImportProblem[]) => {
    const sentenceOf = (code: ImportProblem["code"]) =>
      shownRefusal(refusal(code), form.values).message;
    return shownAgain(submission, PATH, wrongRows(list, refused, sentenceOf), view);
  };
  const plan = await submission.read((reader) => planUsers(reader, users));
  if (list.wrong.length + plan.problems.length > 0) return again(plan.problems);
  const credits = users.filter((_, index) => plan.isCredited[index]);
  const created = plan.isNew.filter((isNew) => isNew).length;
  await submission.confirm({
    title: `Create ${counted(created, "user")} and credit ${counted(credits.length, "user")}`,
    moves: credits.map(({ username, credit }) => {
      return { account: username, micros: credit!.amountMicros };
    }),
    details: <Users users={users} plan={plan} />,
    plan: { users, isNew: plan.isNew, isCredited: plan.isCredited },
  });
  try {
    const done = await submission.submit("createUsers", { users });
    const money = `${counted(done.credited, "user")} credited with ${moneyText(done.creditedMicros)} USD`;
    return { to: "/users", note: `${done.created} created, ${done.existing} existed, ${money}.` };
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== "user_rows_invalid") throw error;
    return again((error as Refusal<"user_rows_invalid">).details.rows);
  }
}

function Users({ users, plan }: { users: readonly NewUserRow[]; plan: UserPlan }) {
  const rows = users.map((user, index) => {
    return { ...user, isNew: plan.isNew[index]!, isCredited: plan.isCredited[index]! };
  });
  return (
    <>
      <List
        caption="Users"
        rows={rows.slice(0, SHOWN_LIMIT)}
        empty=""
        columns={[
          {
            heading: "User",
            cell: ({ username, isNew }) => (
              <>
                <Typed text={username} /> {!isNew && <small>exists</small>}
              </>
            ),
          },
          { heading: "Name", cell: ({ name }) => <Typed text={name} /> },
          { heading: "Parent", cell: ({ parent }) => <Typed text={parent} /> },
          {
            heading: "Credit USD",
            number: true,
            cell: ({ credit, isCredited }) =>
              credit === null ? null : isCredited ? (
                <Money micros={credit.amountMicros} />
              ) : (
                "made before"
              ),
          },
        ]}
      />
      <More count={users.length} />
    </>
  );
}
