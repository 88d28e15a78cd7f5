// Second factor of the signed-in member: setting it up with an authenticator and a QR code, and removing it.

/** @jsxImportSource preact */

import { encode } from "uqr";
import { authenticatorLink } from "../../domain/sign-ins/second-factor.ts";
import { Field, Form, ForUser } from "../../web/components/fields.tsx";
import { PROOF } from "../../web/server/confirmation.tsx";
import type { Redirect, View } from "../../web/server/results.ts";
import type { Call, Submission } from "../server/call.ts";
import type { Portal } from "../server/portal.ts";
import type { Visitor } from "../server/visitor.ts";

/** The only pages open to a member who must set up a second factor. All others lead to the first. */
export const ENROLMENT: readonly string[] = [
  "/settings/second-factor",
  "/settings/second-factor/offer",
  "/settings/second-factor/enable",
  "/sign-out",
];

export function secondFactorPage({ visitor }: Call, { settings, brand, now }: Portal): View {
  const { t, member } = visitor;
  const { totpSecret, offeredSecret, email } = member;
  return {
    title: t("code.title"),
    body: (
      <div class="narrow">
        <h1>{t("code.title")}</h1>
        <p>{t("factor.text")}</p>
        {settings.needsSecondFactor && totpSecret === null && <p>{t("factor.required")}</p>}
        {totpSecret !== null ? (
          <Present visitor={visitor} />
        ) : offeredSecret === null ? (
          <Form action="/settings/second-factor/offer" submit={t("factor.setUp")} />
        ) : (
          <Offered
            visitor={visitor}
            secret={offeredSecret}
            link={authenticatorLink(offeredSecret, email, brand.name)}
            needsProof={!visitor.hasProved(now())}
          />
        )}
      </div>
    ),
  };
}

function Present({ visitor }: { visitor: Visitor }) {
  const { t, member } = visitor;
  return (
    <>
      <p class="notice good">{t("factor.isOn")}</p>
      <Form action="/settings/second-factor/remove" submit={t("factor.remove")} danger>
        <ForUser name={member.email} />
        <Field
          name={PROOF}
          label={t("field.proof")}
          type="password"
          autocomplete="current-password"
          required
        />
      </Form>
    </>
  );
}

function Offered({
  visitor,
  secret,
  link,
  needsProof,
}: {
  visitor: Visitor;
  secret: string;
  link: string;
  needsProof: boolean;
}) {
  const { t, member } = visitor;
  return (
    <ol>
      <li>
        {t("factor.scan")} <a href={link}>{t("factor.open")}</a>
        <Picture text={link} label={t("factor.picture")} />
        <p>
          <code id="secret">{secret.match(/.{1,4}/g)!.join(" ")}</code>
        </p>
      </li>
      <li>
        {t("factor.type")}
        <Form action="/settings/second-factor/enable" submit={t("factor.turnOn")}>
          <Field
            name="code"
            label={t("field.code")}
            inputmode="numeric"
            autocomplete="one-time-code"
            required
          />
          {needsProof && <ForUser name={member.email} />}
          {needsProof && (
            <Field
              name={PROOF}
              label={t("field.currentPassword")}
              type="password"
              autocomplete="current-password"
              required
            />
          )}
        </Form>
      </li>
    </ol>
  );
}

/** Draws a QR code. */
function Picture({ text, label }: { text: string; label: string }) {
  const { size, data } = encode(text, { border: 4 });
  const path = data
    .flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : "")))
    .join("");
  return (
    <svg class="picture" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label}>
      <rect class="light" width={size} height={size} />
      <path class="dark" d={path} />
    </svg>
  );
}

export async function offerSecondFactor({ visitor }: Submission): Promise<Redirect> {
  await visitor.offerSecondFactor();
  return { to: "/settings/second-factor" };
}

/** Turns the second factor on and shows the recovery codes once. All sessions end, and this browser gets a new one. */
export async function enableSecondFactor(submission: Submission): Promise<View> {
  const { form, visitor } = submission;
  const { t } = visitor;
  const code = form.text("code", 20).replace(/\s/g, "");
  form.check();
  await submission.requireProof();
  const { codes, cookie } = await visitor.enableSecondFactor(code);
  return {
    title: t("factor.codes"),
    cookie,
    body: (
      <div class="narrow">
        <h1>{t("factor.codes")}</h1>
        <p class="notice good" role="status">
          {t("factor.isOn")}
        </p>
        <p>{t("factor.codesText")}</p>
        <pre id="codes">{codes.join("\n")}</pre>
        <p class="actions">
          <button type="button" data-copy="codes" data-copied={t("site.copied")} hidden>
            {t("site.copy")}
          </button>
          <a class="button primary" href="/">
            {t("factor.codesSaved")}
          </a>
        </p>
      </div>
    ),
  };
}

export async function removeOwnSecondFactor(submission: Submission): Promise<Redirect> {
  const { form, visitor } = submission;
  const proof = form.secret(PROOF);
  if (proof === "") form.addError(PROOF, visitor.t("field.required"));
  form.check();
  await visitor.prove(proof);
  const { id: person, passwordHash } = visitor.member;
  await submission.submit("removeSecondFactor", { site: "portal", person });
  const cookie = await visitor.renewSession(null, passwordHash!, false);
  return { to: "/settings/second-factor", note: visitor.t("factor.isOff"), cookie };
}
