// Set-up: whoever has the link of an invitation, or a link to a new password, chooses a password. The token is in the
// link's fragment, which never reaches a server or a log. The script copies it into the field; without JavaScript the
// person pastes it.

/** @jsxImportSource preact */

import { findMember } from "../../db/members/members.ts";
import {
  isMemberPassword,
  memberAuthor,
  MEMBER_PASSWORD_LEAST,
} from "../../domain/members/members.ts";
import { Field, Form } from "../../web/components/fields.tsx";
import type { Redirect, View } from "../../web/server/results.ts";
import { Welcome } from "../parts/welcome.tsx";
import type { Call, Submission } from "../server/call.ts";
import type { Portal } from "../server/portal.ts";
import type { Visitor } from "../server/visitor.ts";
import { isCommonPassword } from "./common-passwords.ts";

export function setUpPage({ visitor }: Call, portal: Portal): View {
  const { t } = visitor;
  return {
    title: t("setUp.title"),
    body: (
      <Welcome visitor={visitor} portal={portal} title={t("setUp.title")}>
        <p>{t("setUp.text")}</p>
        <SetUpForm visitor={visitor} action="/set-up" />
      </Welcome>
    ),
  };
}

/** A form with a password, and with the token from the link that led here. */
export function SetUpForm({ visitor, action }: { visitor: Visitor; action: string }) {
  const { t } = visitor;
  return (
    <Form action={action} submit={t("site.continue")}>
      <LinkToken visitor={visitor} />
      <NewPassword visitor={visitor} label={t("field.password")} />
    </Form>
  );
}

/** The token from the link that led here. The script fills it in and hides it. */
export function LinkToken({ visitor: { t } }: { visitor: Visitor }) {
  return (
    <div id="link-token">
      <Field name="token" label={t("field.token")} hint={t("field.tokenHint")} required />
    </div>
  );
}

export function NewPassword({ visitor: { t }, label }: { visitor: Visitor; label: string }) {
  return (
    <Field
      name="password"
      label={label}
      hint={t("field.passwordHint", { least: MEMBER_PASSWORD_LEAST })}
      type="password"
      autocomplete="new-password"
      required
    />
  );
}

export async function setUp(submission: Submission, portal: Portal): Promise<Redirect> {
  const { form, visitor } = submission;
  const token = form.text("token", 100);
  const password = newPassword(submission);
  form.check();
  const { key, cookie, awaitsCode } = await visitor.acceptInvitation(token, password);
  if (awaitsCode) return { to: "/sign-in/code", cookie };
  const { name, language } = await submission.read((reader) => findMember(reader, key)!);
  const asked = visitor.askedLanguage;
  // Whoever invites a member only guesses its language.
  if (asked !== null && asked !== language) {
    const actor = { keyId: null, operator: memberAuthor(key) };
    await portal.writer.submit("updateMember", { changes: { language: asked }, actor });
  }
  return { to: "/", note: visitor.t("setUp.welcome", { name }), cookie };
}

/** Returns the field `password`, refused if it cannot be a password or is a common one. */
export function newPassword({ form, visitor: { t } }: Submission): string {
  const password = form.secret("password");
  if (!isMemberPassword(password)) {
    form.addError("password", t("field.passwordShort", { least: MEMBER_PASSWORD_LEAST }));
  } else if (isCommonPassword(password)) {
    form.addError("password", t("field.passwordCommon"));
  }
  return password;
}
