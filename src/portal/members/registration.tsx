// Registration: a visitor asks for an account. The answer is the same for known and unknown addresses. Where servers send
// e-mails, an account is opened by a link, which proves the address.

/** @jsxImportSource preact */

import { isMailOn } from "../../db/mails/mails.ts";
import { MEMBER_NAME_LIMIT, parseEmail } from "../../domain/members/members.ts";
import { Refusal, refusal } from "../../domain/values/error-table.ts";
import { Field, Form } from "../../web/components/fields.tsx";
import { redirect } from "../../web/server/response.ts";
import type { Redirect, View } from "../../web/server/results.ts";
import { Welcome } from "../parts/welcome.tsx";
import type { Call, Submission } from "../server/call.ts";
import type { Portal } from "../server/portal.ts";
import { hashSecret } from "../../web/sessions/session-cookie.ts";
import { SetUpForm, NewPassword, newPassword } from "./set-up.tsx";

export async function registrationPage(call: Call, portal: Portal): Promise<View | Response> {
  const { visitor } = call;
  const { t } = visitor;
  const { registration } = portal.settings;
  if (registration === "off") return redirect("/sign-in");
  const isOpen = registration === "open";
  const isByMail = isOpen && (await call.read(isMailOn));
  const title = t(isOpen ? "signIn.registerOpen" : "signIn.register");
  return {
    title,
    body: (
      <Welcome visitor={visitor} portal={portal} title={title}>
        <p>{t(isByMail ? "register.textMail" : isOpen ? "register.textOpen" : "register.text")}</p>
        <Form action="/register" submit={title}>
          <Field name="name" label={t("register.name")} autocomplete="organization" required />
          <Field name="email" label={t("field.email")} autocomplete="username" required />
          {isOpen && !isByMail && <NewPassword visitor={visitor} label={t("field.password")} />}
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
  const isByMail = registration === "open" && (await submission.read(isMailOn));
  const password = registration === "open" && !isByMail ? newPassword(submission) : "";
  form.check();
  const seconds = portal.limits.registration(visitor.network);
  if (seconds > 0) throw new Refusal("sign_in_limited", { retryAfterSeconds: seconds });
  const asked = { email: email!, name, language };
  const limit = portal.settings.registrationsWaiting;
  if (isByMail) {
    const { address, network, userAgent } = visitor;
    const from = { address, network, userAgent };
    await portal.writer.submit("askAccount", { ...asked, limit, from });
    return { to: "/sign-in", note: t("register.sent") };
  }
  // Counted like a failed try to sign in, which limits the registrations from an address in a quarter of an hour.
  await visitor.begin("invitation", "");
  if (registration === "approve") {
    await portal.writer.submit("register", { ...asked, limit });
    return { to: "/sign-in", note: t("register.waits") };
  }
  // Hashed for known addresses too, so that the time tells nothing.
  const passwordHash = await portal.passwords.hash(password, false);
  await portal.writer.submit("openAccount", { ...asked, passwordHash });
  return { to: "/sign-in", note: t("register.opened") };
}

/** Asks whoever has the link for a password. */
export function confirmPage({ visitor }: Call, portal: Portal): View {
  const { t } = visitor;
  const title = t("email.registration.action");
  return {
    title,
    body: (
      <Welcome visitor={visitor} portal={portal} title={title}>
        <p>{t("setUp.text")}</p>
        <SetUpForm visitor={visitor} action="/register/confirm" />
      </Welcome>
    ),
  };
}

/** Opens the account and signs in. */
export async function confirm(submission: Submission, portal: Portal): Promise<Redirect> {
  const { form, visitor } = submission;
  // A link that was sent while anybody could open an account.
  if (portal.settings.registration !== "open") throw refusal("invitation_invalid");
  const confirmHash = hashSecret(form.text("token", 100));
  const password = newPassword(submission);
  form.check();
  const cookie = await visitor.judge(null, async () => {
    const { attempt } = await visitor.begin("invitation", "");
    const passwordHash = await portal.passwords.hash(password);
    const person = await portal.writer.submit("confirmAccount", { confirmHash, passwordHash });
    const { session, cookie: made } = visitor.newSession();
    const { network } = visitor;
    const opened = { site: "portal", attempt, person, passwordHash, session, network } as const;
    await portal.writer.submit("openSession", opened);
    return made;
  });
  return { to: "/", cookie };
}
