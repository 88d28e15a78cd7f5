// Settings of the signed-in member: name, e-mail address, language, time zone, e-mails, password, second factor and
// sessions.

/** @jsxImportSource preact */

import { isMailOn } from "../../db/mails/mails.ts";
import { PORTAL_SIGN_INS } from "../../db/members/members.ts";
import {
  LANGUAGE_NAMES,
  LANGUAGES,
  parseTimeZone,
  TIME_ZONES,
} from "../../domain/members/languages.ts";
import { MAIL_CHOICES, MEMBER_NAME_LIMIT, parseEmail } from "../../domain/members/members.ts";
import { formatMicros } from "../../domain/ledger/money.ts";
import { isSessionLive } from "../../domain/sign-ins/sign-ins.ts";
import { Box, Choice, Field, Form, ForUser } from "../../web/components/fields.tsx";
import { Typed } from "../../web/components/shown.tsx";
import type { Redirect, View } from "../../web/server/results.ts";
import type { Call, Submission } from "../server/call.ts";
import type { Portal } from "../server/portal.ts";
import type { Visitor } from "../server/visitor.ts";
import { Sessions } from "./sessions.tsx";
import { newPassword, NewPassword } from "./set-up.tsx";

export async function settingsPage(call: Call, { now }: Portal): Promise<View> {
  const { visitor } = call;
  const { t } = visitor;
  const { person, session } = visitor.identity();
  const { all, sendsMail } = await call.read((reader) => ({
    all: PORTAL_SIGN_INS.listSessionsOf(reader, person.id),
    sendsMail: isMailOn(reader),
  }));
  const sessions = all.filter((each) => isSessionLive("portal", each, now()));
  return {
    title: t("settings.title"),
    body: (
      <>
        <h1>{t("settings.title")}</h1>
        <div class="columns">
          <section class="card">
            <h2>{t("settings.profile")}</h2>
            <Profile
              visitor={visitor}
              needsProof={!visitor.hasProved(now())}
              sendsMail={sendsMail}
              now={now()}
            />
          </section>
          <div>
            {visitor.may("members") && <LowBalance visitor={visitor} />}
            <section class="card">
              <h2>{t("field.password")}</h2>
              <Form action="/settings/password" submit={t("settings.changePassword")}>
                <ForUser name={person.email} />
                <Field
                  name="current"
                  label={t("field.currentPassword")}
                  type="password"
                  autocomplete="current-password"
                  required
                />
                <NewPassword visitor={visitor} label={t("field.newPassword")} />
              </Form>
            </section>
            <section class="card">
              <h2>{t("code.title")}</h2>
              <p>{person.totpSecret === null ? t("factor.isOff") : t("factor.isOn")}</p>
              <p>
                <a href="/settings/second-factor">
                  {t(person.totpSecret === null ? "factor.setUp" : "settings.secondFactor")}
                </a>
              </p>
            </section>
          </div>
        </div>
        <Sessions visitor={visitor} sessions={sessions} own={session.id} />
      </>
    ),
  };
}

/** The balance of the reseller below which its members get an e-mail. */
function LowBalance({ visitor: { t, allowed } }: { visitor: Visitor }) {
  const { lowBalanceMicros } = allowed;
  return (
    <section class="card">
      <h2>{t("settings.lowBalance")}</h2>
      <Form action="/settings/low-balance" submit={t("site.save")}>
        <Field
          name="low-balance"
          label={t("settings.lowBalanceBelow")}
          hint={t("settings.lowBalanceHint")}
          inputmode="decimal"
          value={lowBalanceMicros === null ? "" : formatMicros(lowBalanceMicros)}
        />
      </Form>
    </section>
  );
}

export async function setLowBalance(submission: Submission): Promise<Redirect> {
  const lowBalanceMicros = submission.form.optionalAmount("low-balance");
  await submission.submit("setLowBalance", { lowBalanceMicros });
  return { to: "/settings", note: submission.visitor.t("site.saved") };
}

function Profile({
  visitor,
  needsProof,
  sendsMail,
  now,
}: {
  visitor: Visitor;
  needsProof: boolean;
  /** Whether a server sends e-mails. */
  sendsMail: boolean;
  now: number;
}) {
  const { t, member } = visitor;
  // An address that a link has not proved yet.
  const waitsFor = (member.newEmailUntil ?? 0) > now ? member.newEmail : null;
  const chosen = member.mails.split(",");
  return (
    <Form action="/settings" submit={t("site.save")}>
      <Field name="name" label={t("field.name")} value={member.name} autocomplete="name" required />
      {sendsMail ? (
        <Field
          name="email"
          label={t("field.email")}
          value={member.email}
          hint={t("settings.emailHint")}
          autocomplete="email"
          required
        />
      ) : (
        <p>
          <strong>{t("field.email")}</strong>
          <br />
          <Typed text={member.email} />
          <br />
          <span class="hint">{t("settings.emailFixed")}</span>
        </p>
      )}
      {waitsFor !== null && (
        <p class="notice busy">{t("settings.emailWaits", { email: waitsFor })}</p>
      )}
      <Choice
        name="language"
        label={t("field.language")}
        value={member.language}
        options={LANGUAGES.map((language) => [language, LANGUAGE_NAMES[language]])}
      />
      <Choice
        name="timeZone"
        label={t("field.timeZone")}
        value={member.timeZone}
        options={TIME_ZONES}
      />
      <fieldset>
        <legend>{t("settings.mails")}</legend>
        {!sendsMail && <p class="hint">{t("settings.mailsOff")}</p>}
        {MAIL_CHOICES.map((kind) => (
          <Box
            name="mails"
            value={kind}
            label={t(`mail.${kind}`)}
            checked={chosen.includes(kind)}
          />
        ))}
      </fieldset>
      {sendsMail && needsProof && <ForUser name={member.email} />}
      {sendsMail && needsProof && (
        <Field
          name="proof"
          label={t("field.proof")}
          hint={t("settings.proofHint")}
          type="password"
          autocomplete="current-password"
        />
      )}
    </Form>
  );
}

export async function saveSettings(submission: Submission): Promise<Redirect> {
  const { form, visitor } = submission;
  const { t, member } = visitor;
  const name = form.text("name", MEMBER_NAME_LIMIT);
  // Without e-mails a new address could not be proved, and the page has no field for it.
  const isFixed = form.raw("email") === "" && !(await submission.read(isMailOn));
  const email = isFixed ? member.email : parseEmail(form.text("email"));
  if (email === null) form.addError("email", t("field.emailWrong"));
  const language = form.choice("language", LANGUAGES);
  const timeZone = parseTimeZone(form.text("timeZone"));
  if (timeZone === null) form.addError("timeZone", t("field.wrong"));
  const mails = MAIL_CHOICES.filter((kind) => form.all("mails").includes(kind)).join(",");
  form.check();
  // Whoever gets the mail of an account can take it over.
  const isMoved = email !== member.email;
  if (isMoved) await submission.requireProof();
  const changes = { name, language, timeZone: timeZone!, mails };
  await submission.submit("updateMember", { changes, ...(isMoved && { newEmail: email! }) });
  const note = isMoved ? t("settings.emailWaits", { email: email! }) : t("site.saved");
  return { to: "/settings", note };
}

export async function changePassword(submission: Submission, portal: Portal): Promise<Redirect> {
  const { form, visitor } = submission;
  const { t } = visitor;
  const current = form.secret("current");
  if (current === "") form.addError("current", t("field.required"));
  const password = newPassword(submission);
  form.check();
  const attempt = await visitor.beginPasswordChange(current).catch((error: unknown) => {
    form.addError("current", t("field.currentWrong"));
    throw error;
  });
  const passwordHash = await portal.passwords.hash(password);
  const { id: person } = visitor.member;
  await submission.submit("setPassword", { site: "portal", person, passwordHash });
  const cookie = await visitor.renewSession(attempt, passwordHash, true);
  return { to: "/settings", note: t("settings.passwordChanged"), cookie };
}
