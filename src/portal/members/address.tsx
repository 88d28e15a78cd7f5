// A new e-mail address of the signed-in member, which a link proves. Whoever only has the link, such as the owner of a
// mistyped address, cannot use it.

/** @jsxImportSource preact */

import { Form } from "../../web/components/fields.tsx";
import type { Redirect, View } from "../../web/server/results.ts";
import { hashSecret } from "../../web/sessions/session-cookie.ts";
import type { Call, Submission } from "../server/call.ts";
import { LinkToken } from "./set-up.tsx";

export function addressPage({ visitor }: Call): View {
  const { t } = visitor;
  const { newEmail } = visitor.member;
  const title = t("address.title");
  return {
    title,
    body: (
      <div class="narrow">
        <h1>{title}</h1>
        {newEmail === null ? (
          <p>{t("address.none")}</p>
        ) : (
          <>
            <p>{t("address.text", { email: newEmail })}</p>
            <Form action="/settings/address" submit={title}>
              <LinkToken visitor={visitor} />
            </Form>
          </>
        )}
        <p>
          <a href="/settings">{t("settings.title")}</a>
        </p>
      </div>
    ),
  };
}

export async function proveAddress(submission: Submission): Promise<Redirect> {
  const { form, visitor } = submission;
  const hash = hashSecret(form.text("token", 100));
  form.check();
  const email = await submission.submit("proveAddress", { hash });
  return { to: "/settings", note: visitor.t("address.changed", { email }) };
}
