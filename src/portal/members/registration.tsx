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
import { LinkToken, NewPassword, newPassword, SetUpForm } from "./set-up.tsx";

export async function registrationPage(call: Call, portal: Portal): Promise<View | Response> {
  const { visitor } = call;
  const { t } = visitor;
  const { registration } = portal.settings;
  if (registration === "off") return redirect("/sign-in");
  const isOpen = registration === "open";
  const isByMail = await call.read(isMailOn);
  const title = t(isOpen ? "signIn.registerOpen" : "signIn.register");
  return {
    title,
    body: (
      <Welcome visitor={visitor} portal={portal} title={title}>
        <p>{t(!isOpen ? "register.text" : isByMail ? "register.textMail" : "register.textOpen")}</p>
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
  const isOpen = registration === "open";
  const isByMail = await submission.read(isMailOn);
  const password = isOpen && !isByMail ? newPassword(submission) : "";
  form.check();
  const seconds = portal.limits.registration(visitor.network);
  if (seconds > 0) throw new Refusal("sign_in_limited", { retryAfterSeconds: seconds });
  const asked = { email: email!, name, language, from: visitor.origin };
  const limit = isOpen ? null : portal.settings.registrationsWaiting;
  if (isByMail) {
    await portal.writer.submit("askAccount", { ...asked, limit });
    return { to: "/sign-in", note: t("register.sent") };
  }
  if (!isOpen) {
    await portal.writer.submit("register", { ...asked, limit });
    return { to: "/sign-in", note: t("register.waits") };
  }
  // Hashed for known addresses too, so that the time tells nothing.
  const passwordHash = await portal.passwords.hash(password, false);
  await portal.writer.submit("openAccount", { ...asked, passwordHash });
  return { to: "/sign-in", note: t("register.opened") };
}

/** Asks whoever has the link for a password, or, where the operator decides, only for the proof of the address. */
export function confirmPage({ visitor }: Call, portal: Portal): View {
  const { t } = visitor;
  const isOpen = portal.settings.registration === "open";
  const title = t(isOpen ? "email.registration.action" : "register.prove");
  return {
    title,
    body: (
      <Welcome visitor={visitor} portal={portal} title={title}>
        <p>{t(isOpen ? "setUp.text" : "register.proveText")}</p>
        {isOpen ? (
          <SetUpForm visitor={visitor} action="/register/confirm" />
        ) : (
          <Form action="/register/confirm" submit={title}>
            <LinkToken visitor={visitor} />
          </Form>
        )}
      </Welcome>
    ),
  };
}

/** Opens the account and signs in, or lets the visitor wait for the operator. */
export async function confirm(submission: Submission, portal: Portal): Promise<Redirect> {
  const { form, visitor } = submission;
  const { registration, registrationsWaiting: limit } = portal.settings;
  // A link that was sent while visitors could ask for an account.
  if (registration === "off") throw refusal("invitation_invalid");
  const confirmHash = hashSecret(form.text("token", 100));
  if (registration === "approve") {
    form.check();
    const proof = { confirmHash, from: visitor.origin, limit };
    await portal.writer.submit("proveRegistration", proof);
    return { to: "/sign-in", note: visitor.t("register.waits") };
  }
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
