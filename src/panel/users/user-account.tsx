// A user's names, and whether its keys are accepted.

/** @jsxImportSource preact */

import { listKeys } from "../../db/users/keys.ts";
import type { User } from "../../db/users/users.ts";
import { createsCredit } from "../../domain/users/keys.ts";
import { USER_NAME_LENGTH_LIMIT, USERNAME_FORM } from "../../domain/users/users.ts";
import type { UserContact } from "../../db/users/user-contacts.ts";
import { EMAIL, USER_NOTE } from "../../domain/values/kinds.ts";
import { eraseWholly } from "../../operations/users/erasures.ts";
import type { Submission } from "../server/call.ts";
import type { Redirect } from "../../web/server/results.ts";
import { Area, Field, Fold, Form } from "../../web/components/fields.tsx";
import { Sentence } from "../../web/components/shown.tsx";
import { utcText } from "../../domain/values/times.ts";
import { requireShownUser, userPath } from "./shown-user.ts";

const REASON_LIMIT = 500;

export function Account({
  user,
  contact,
  path,
  isOwner,
}: {
  user: User;
  contact: UserContact;
  path: string;
  isOwner: boolean;
}) {
  if (user.erasedAt !== null) return <Erased at={user.erasedAt} />;
  return (
    <section class="card">
      <h2>Account</h2>
      <Fold action={`${path}/rename`} summary="Rename">
        <Form action={`${path}/rename`} submit="Rename">
          <Field name="username" label="Username" hint={USERNAME_FORM} value={user.username} />
          <Field name="name" label="Name" value={user.name} />
        </Form>
      </Fold>
      <Fold action={`${path}/contact`} summary="E-mail and notes">
        <Form action={`${path}/contact`} submit="Save">
          <Field
            name="email"
            label="E-mail"
            hint="only operators see it"
            value={contact.email ?? ""}
          />
          <Area
            name="note"
            label="Notes"
            hint="only operators see them"
            value={contact.note ?? ""}
          />
        </Form>
      </Fold>
      {user.parentAccount === null && (
        <Form action={`${path}/${user.active ? "deactivate" : "activate"}`}>
          <p class="actions">
            <button>{user.active ? "Deactivate" : "Activate"}</button>
            <small>
              {user.active
                ? "its keys are refused; balance and orders stay"
                : "its keys are accepted again"}
            </small>
          </p>
        </Form>
      )}
      {isOwner && (user.parentAccount !== null || !user.active) && (
        <Fold action={`${path}/erase`} summary="Erase personal data">
          <Form action={`${path}/erase`} submit="Erase" danger>
            <Field
              name="reason"
              label="Why"
              hint="kept in the audit log, so write nothing personal"
              required
            />
          </Form>
        </Fold>
      )}
    </section>
  );
}

function Erased({ at }: { at: number }) {
  return (
    <section class="card">
      <h2>Account</h2>
      <p>
        The personal data of this user was erased on <Sentence text={utcText(at)} />. Balance,
        orders and transfers stay, without names, links and notes.
      </p>
    </section>
  );
}

export async function eraseUser(submission: Submission): Promise<Redirect> {
  const { username } = await submission.read((reader) =>
    requireShownUser(reader, submission.params["user"]!),
  );
  const reason = submission.form.text("reason", REASON_LIMIT);
  await submission.confirm({
    title: `Erase the personal data of ${username}`,
    moves: [],
    danger: true,
    details: (
      <p>
        Names, e-mail address, notes, links of its orders, references, notes, labels of keys,
        webhooks and stored requests are erased for good. Balance, orders and transfers stay for the
        ledger. Backups and off-site copies hold the data until they are deleted.
      </p>
    ),
  });
  const erased = await eraseWholly({
    user: () => submission.submit("eraseUser", { username, reason }),
    piece: (piece) => submission.submit("eraseHistory", piece),
  });
  return { to: userPath(erased.username), note: "The personal data was erased." };
}

export async function renameUser(submission: Submission): Promise<Redirect> {
  const { form } = submission;
  const username = form.username("username");
  const name = form.text("name", USER_NAME_LENGTH_LIMIT);
  const before = submission.params["user"]!;
  if (username.toLowerCase() !== before.toLowerCase()) {
    submission.visitor.requireOwner("change a username, because recharges use it");
    await submission.confirm({
      title: `Rename ${before} to ${username}`,
      moves: [],
      isSensitive: true,
      details: <p>Recharges and look-ups use the username: tell whoever uses the old one.</p>,
    });
  }
  await submission.submit("updateUser", { username: before, changes: { username, name } });
  return { to: userPath(username), note: "The names were saved." };
}

export async function changeContact(submission: Submission): Promise<Redirect> {
  const { form } = submission;
  const username = submission.params["user"]!;
  const email = form.optional("email", EMAIL, "");
  const note = form.optional("note", USER_NOTE, "");
  await submission.submit("updateUser", { username, changes: { email, note } });
  return { to: userPath(username), note: "The e-mail and the notes were saved." };
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
        Every key of {username} will be refused. The balance, child users and open orders stay as
        they are.
      </p>
    ),
  });
  await submission.submit("setUserActive", { username, active: false });
  return { to: userPath(username), note: `${username} is inactive: its keys are refused.` };
}

export async function activateUser(submission: Submission): Promise<Redirect> {
  const { username, keys } = await submission.read((reader) => {
    const user = requireShownUser(reader, submission.params["user"]!);
    return { username: user.username, keys: listKeys(reader, { account: user.account }) };
  });
  const returning = keys.filter((key) => key.suspended && createsCredit(key)).length;
  if (returning > 0) {
    submission.visitor.requireOwner("activate a user with a key that can create credit");
    await submission.confirm({
      title: `Activate ${username}`,
      moves: [],
      isSensitive: true,
      details: <p>Its keys that can create credit are accepted again: {returning}.</p>,
    });
  }
  await submission.submit("setUserActive", { username, active: true });
  return { to: userPath(username), note: `${username} is active again.` };
}
