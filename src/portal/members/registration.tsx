// Registration: a visitor asks for an account. The answer is the same for known and unknown addresses.

/** @jsxImportSource preact */

import { MEMBER_NAME_LIMIT, parseEmail } from "../../domain/members/members.ts";
import { Refusal } from "../../domain/values/error-table.ts";
import { Field, Form } from "../../web/components/fields.tsx";
import { redirect } from "../../web/server/response.ts";
import type { Redirect, View } from "../../web/server/results.ts";
import { Welcome } from "../parts/welcome.tsx";
import type { Call, Submission } from "../server/call.ts";
import type { Portal } from "../server/portal.ts";
import { NewPassword, newPassword } from "./set-up.tsx";

export function registrationPage({ visitor }: Call, portal: Portal): View | Response {
  const { t } = visitor;
  const { registration } = portal.settings;
  if (registration === "off") return redirect("/sign-in");
  const isOpen = registration === "open";
  const title = t(isOpen ? "signIn.registerOpen" : "signIn.register");
  return {
    title,
    body: (
      <Welcome visitor={visitor} portal={portal} title={title}>
        <p>{t(isOpen ? "register.textOpen" : "register.text")}</p>
        <Form action="/register" submit={title}>
          <Field name="name" label={t("register.name")} autocomplete="organization" required />
          <Field name="email" label={t("field.email")} autocomplete="username" required />
          {isOpen && <NewPassword visitor={visitor} label={t("field.password")} />}
        </Form>
        <p>
          <a href="/sign-in">{t("register.have")}</a>
        </p>
      </Welcome>
    ),
  };
}

export async function register(submission: Submission, portal: Portal): Promise<Redirect> {
  const { form, visitor } = submission;
  const { t, language } = visitor;
  const { registration } = portal.settings;
  if (registration === "off") return { to: "/sign-in" };
  const name = form.text("name", MEMBER_NAME_LIMIT);
  const email = parseEmail(form.text("email"));
  if (email === null) form.addError("email", t("field.emailWrong"));
  const password = registration === "open" ? newPassword(submission) : "";
  form.check();
  const seconds = portal.limits.registration(visitor.network);
  if (seconds > 0) throw new Refusal("sign_in_limited", { retryAfterSeconds: seconds });
  // Counted like a failed try to sign in, which limits the registrations from an address in a quarter of an hour.
  await visitor.begin("invitation", "");
  const asked = { email: email!, name, language };
  if (registration === "approve") {
    await portal.writer.submit("register", {
      ...asked,
      limit: portal.settings.registrationsWaiting,
    });
    return { to: "/sign-in", note: t("register.waits") };
  }
  // Hashed for known addresses too, so that the time tells nothing.
  const passwordHash = await portal.passwords.hash(password, false);
  await portal.writer.submit("openAccount", { ...asked, passwordHash });
  return { to: "/sign-in", note: t("register.opened") };
}
