// A user's names, and whether its keys are accepted.

/** @jsxImportSource preact */

import type { User } from "../db/users.ts";
import { USER_NAME_LENGTH_LIMIT, USERNAME_FORM } from "../domain/users.ts";
import type { Redirect, Submission } from "./call.ts";
import { Field, Fold, Form } from "./fields.tsx";
import { requireShownUser } from "./user.tsx";

export function Account({ user, path }: { user: User; path: string }) {
  return (
    <section class="card">
      <h2>Account</h2>
      <Fold action={`${path}/rename`} summary="Rename">
        <Form action={`${path}/rename`} submit="Rename">
          <Field name="username" label="Username" hint={USERNAME_FORM} value={user.username} />
          <Field name="name" label="Name" value={user.name} />
        </Form>
      </Fold>
      {user.parentAccount === null && (
        <Form action={`${path}/${user.active ? "deactivate" : "activate"}`}>
          <p class="actions">
            <button>{user.active ? "Deactivate" : "Activate"}</button>
            <small>
              {user.active
                ? "its keys are refused then; balance and orders stay"
                : "its keys are accepted again then"}
            </small>
          </p>
        </Form>
      )}
    </section>
  );
}

export async function renameUser(submission: Submission): Promise<Redirect> {
  const { form } = submission;
  const username = form.username("username");
  const name = form.text("name", USER_NAME_LENGTH_LIMIT);
  const before = submission.params["user"]!;
  await submission.submit("updateUser", { username: before, changes: { username, name } });
  return { to: pathOf(username), note: "The names were saved." };
}

export async function deactivateUser(submission: Submission): Promise<Redirect> {
  const { username } = await submission.read((reader) =>
    requireShownUser(reader, submission.params["user"]!),
  );
  await submission.confirm({
    title: `Deactivate ${username}`,
    moves: [],
    danger: true,
    details: (
      <p>
        Every key of {username} is refused from then on. The balance, child users and open orders
        stay as they are.
      </p>
    ),
  });
  await submission.submit("setUserActive", { username, active: false });
  return { to: pathOf(username), note: `${username} is inactive: its keys are refused.` };
}

export async function activateUser(submission: Submission): Promise<Redirect> {
  const username = submission.params["user"]!;
  await submission.submit("setUserActive", { username, active: true });
  return { to: pathOf(username), note: `${username} is active again.` };
}

function pathOf(username: string): string {
  return `/users/${encodeURIComponent(username)}`;
}
