// Second factor of the signed-in administrator: setting it up with an authenticator and a QR code, and removing it.

/** @jsxImportSource preact */

import { encode } from "uqr";
import { authenticatorLink } from "../../domain/sign-ins/second-factor.ts";
import type { Call, Submission } from "../server/call.ts";
import type { Panel } from "../server/panel.ts";
import type { Redirect, View } from "../../web/server/results.ts";
import { PROOF } from "../../web/server/confirmation.tsx";
import { Field, Form, ForUser } from "../../web/components/fields.tsx";

/**
 * The only pages open to an owner who still needs to set up a required second factor. All others redirect to the
 * first.
 */
export const ENROLMENT: readonly string[] = [
  "/account/second-factor",
  "/account/second-factor/offer",
  "/account/second-factor/enable",
  "/sign-out",
];

export function secondFactorPage(call: Call, { settings, now }: Panel): View {
  const { name, role, totpSecret, offeredSecret } = call.visitor.administrator;
  const isRequired = settings.needsSecondFactor && role === "owner";
  return {
    title: "Second factor",
    body: (
      <div class="narrow">
        <h1>Second factor</h1>
        <p>
          A code from an authenticator on your phone, in addition to the password.
          {isRequired && " Owners must set one up before they continue."}
        </p>
        {totpSecret !== null ? (
          <Present name={name} isRequired={isRequired} />
        ) : offeredSecret === null ? (
          <Form action="/account/second-factor/offer" submit="Set up" />
        ) : (
          <Offered name={name} secret={offeredSecret} needsProof={!call.visitor.hasProved(now())} />
        )}
      </div>
    ),
  };
}

function Present({ name, isRequired }: { name: string; isRequired: boolean }) {
  return (
    <>
      <p class="notice good">The second factor is on.</p>
      {isRequired && <p>If you remove it, you must set up another at once.</p>}
      <Form action="/account/second-factor/remove" submit="Remove it" danger>
        <ForUser name={name} />
        <Field
          name="proof"
          label="Your password, or a code"
          type="password"
          autocomplete="current-password"
          required
        />
      </Form>
    </>
  );
}

function Offered({
  name,
  secret,
  needsProof,
}: {
  name: string;
  secret: string;
  needsProof: boolean;
}) {
  const link = authenticatorLink(secret, name);
  return (
    <>
      <ol>
        <li>
          Scan this with an authenticator, or <a href={link}>open it on this device</a>, or type the
          secret:
          <Picture text={link} />
          <p>
            <code id="secret">{secret.match(/.{1,4}/g)!.join(" ")}</code>
          </p>
        </li>
        <li>
          Type the code that it shows:
          <Form action="/account/second-factor/enable" submit="Turn on">
            <Field
              name="code"
              label="Code"
              inputmode="numeric"
              autocomplete="one-time-code"
              required
            />
            {needsProof && <ForUser name={name} />}
            {needsProof && (
              <Field
                name={PROOF}
                label="Your password"
                hint="Required again, because the second factor decides who can sign in."
                type="password"
                autocomplete="current-password"
                required
              />
            )}
          </Form>
        </li>
      </ol>
    </>
  );
}

/** Draws a QR code. */
function Picture({ text }: { text: string }) {
  const { size, data } = encode(text, { border: 4 });
  const path = data
    .flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : "")))
    .join("");
  return (
    <svg
      class="picture"
      viewBox={`0 0 ${size} ${size}`}
      role="img"
      aria-label="QR code of the secret"
    >
      <rect class="light" width={size} height={size} />
      <path class="dark" d={path} />
    </svg>
  );
}

export async function offerSecondFactor({ visitor }: Submission): Promise<Redirect> {
  await visitor.offerSecondFactor();
  return { to: "/account/second-factor" };
}

/** Turns the second factor on and shows the recovery codes once. All sessions end, and this browser gets a new one. */
export async function enableSecondFactor(submission: Submission): Promise<View> {
  const { form, visitor } = submission;
  const code = form.text("code", 20).replace(/\s/g, "");
  form.check();
  await submission.requireProof();
  const { codes, cookie } = await visitor.enableSecondFactor(code);
  return {
    title: "Recovery codes",
    cookie,
    body: (
      <div class="narrow">
        <h1>Recovery codes</h1>
        <p class="notice good" role="status">
          The second factor is on.
        </p>
        <p>
          Each of these works once instead of a code, if you lose the authenticator. Save them now:
          the server does not store them and cannot show them again.
        </p>
        <pre id="codes">{codes.join("\n")}</pre>
        <p class="actions">
          <button type="button" data-copy="codes" hidden>
            Copy
          </button>
          <a class="button primary" href="/">
            I have saved them
          </a>
        </p>
      </div>
    ),
  };
}

export async function removeOwnSecondFactor(
  submission: Submission,
  panel: Panel,
): Promise<Redirect> {
  const { form, visitor } = submission;
  const proof = form.secret("proof");
  if (proof === "") form.addError("proof", "proof is required");
  form.check();
  await visitor.prove(proof);
  const { name, passwordHash } = visitor.administrator;
  await submission.submit("removeSecondFactor", { site: "panel", person: name });
  const cookie = await visitor.renewSession(null, passwordHash!, false);
  panel.log.info({ administrator: name }, "panel: second factor removed");
  return { to: "/account/second-factor", note: "The second factor is off.", cookie };
}
