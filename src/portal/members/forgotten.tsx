// What a member does who forgot the password: it gets a link by e-mail or, where none is sent, from the operator or an
// owner. The answer is the same for known and unknown addresses.

/** @jsxImportSource preact */

import { isMailOn } from "../../db/mails/mails.ts";
import { parseEmail } from "../../domain/members/members.ts";
import { Field, Form } from "../../web/components/fields.tsx";
import type { Redirect, View } from "../../web/server/results.ts";
import { ContactLink, Welcome } from "../parts/welcome.tsx";
import type { Call, Submission } from "../server/call.ts";
import type { Portal } from "../server/portal.ts";

export async function forgottenPage(call: Call, portal: Portal): Promise<View> {
  const { visitor } = call;
  const { t } = visitor;
  return {
    title: t("reset.title"),
    body: (
      <Welcome visitor={visitor} portal={portal} title={t("reset.title")}>
        {(await call.read(isMailOn)) ? (
          <>
            <p>{t("reset.mail")}</p>
            <Form action="/forgotten" submit={t("reset.send")}>
              <Field name="email" label={t("field.email")} autocomplete="username" required />
            </Form>
          </>
        ) : (
          <ByHand call={call} portal={portal} />
        )}
        <p>
          <a href="/sign-in">{t("signIn.submit")}</a>
        </p>
      </Welcome>
    ),
  };
}

/** Who makes a link where no server sends e-mails. */
function ByHand({ call: { visitor }, portal }: { call: Call; portal: Portal }) {
  const { t } = visitor;
  const { contact } = portal.settings;
  return (
    <>
      <p>{t("reset.text")}</p>
      {contact !== null && (
        <p>
          {t("reset.contact")} <ContactLink contact={contact} />
        </p>
      )}
      <p>{t("reset.owner")}</p>
    </>
  );
}

/** Sends a link to a member with this address. */
export async function askReset({ form, visitor }: Submission, portal: Portal): Promise<Redirect> {
  const { t } = visitor;
  const email = parseEmail(form.text("email"));
  if (email === null) form.addError("email", t("field.emailWrong"));
  form.check();
  await portal.writer.submit("askReset", { email: email!, from: visitor.origin });
  return { to: "/sign-in", note: t("reset.sent") };
}
