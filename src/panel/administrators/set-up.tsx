// Set-up: whoever has the link of an invitation chooses a password. The token is in the link's fragment, which never
// reaches a server or a log. The script copies it into the field; without JavaScript the person pastes it.

/** @jsxImportSource preact */

import { isPassword, PASSWORD_FORM } from "../../domain/administrators/administrators.ts";
import { INVITATION_TIME } from "../../domain/sign-ins/sign-ins.ts";
import type { Call, Submission } from "../server/call.ts";
import type { Redirect, View } from "../../web/server/results.ts";
import { Field, Form } from "../../web/components/fields.tsx";

export function setUpPage(_call: Call): View {
  return {
    title: "Set up",
    body: (
      <div class="narrow">
        <h1>Set up your account</h1>
        <Form action="/setup" submit="Continue">
          <div id="link-token">
            <Field
              name="token"
              label="Token"
              hint={`The part after # in the link that you were given. It works once, for ${INVITATION_TIME}.`}
              required
            />
          </div>
          <Field
            name="password"
            label="Choose a password"
            hint={`${PASSWORD_FORM}: several words are easy to remember.`}
            type="password"
            autocomplete="new-password"
            required
          />
        </Form>
      </div>
    ),
  };
}

export async function setUp(submission: Submission): Promise<Redirect> {
  const { form, visitor } = submission;
  const token = form.text("token", 100);
  const password = newPassword(submission);
  form.check();
  const { key: name, cookie } = await visitor.acceptInvitation(token, password);
  return { to: "/", note: `Welcome, ${name}.`, cookie };
}

/** Returns the field `password`, refused if it cannot be a password. */
export function newPassword({ form }: Submission): string {
  const password = form.secret("password");
  if (!isPassword(password)) form.refuse("password", PASSWORD_FORM);
  return password;
}
