// Turns off a kind of e-mail by the link in it. The page asks first, because programs open links; mail programs send the
// form themselves: RFC 8058.

/** @jsxImportSource preact */

import { choiceOfMail } from "../../operations/members/mail-choices.ts";
import { Form } from "../../web/components/fields.tsx";
import type { View } from "../../web/server/results.ts";
import { Welcome } from "../parts/welcome.tsx";
import type { Call, Submission } from "../server/call.ts";
import type { Portal } from "../server/portal.ts";

export async function unsubscribePage(call: Call, portal: Portal): Promise<View> {
  const { visitor, params } = call;
  const { t } = visitor;
  const mail = params["mail"]!;
  const { found } = await call.read((reader) => ({ found: choiceOfMail(reader, mail) }));
  const title = t("unsubscribe.title");
  if (found === null) return answer(call, portal, "unsubscribe.gone", 404);
  // Not the member's new address: whoever has the link may read only the old one.
  const { choice, email } = found;
  return {
    title,
    body: (
      <Welcome visitor={visitor} portal={portal} title={title}>
        <p>{t("unsubscribe.text", { kind: t(`mail.${choice}`), email })}</p>
        <Form action={`/unsubscribe/${mail}`} submit={t("unsubscribe.submit")} />
      </Welcome>
    ),
  };
}

/** Turns the kind off. The answer is a page of its own: mail programs follow no redirect. */
export async function unsubscribe(submission: Submission, portal: Portal): Promise<View> {
  await portal.writer.submit("turnOffMails", { mail: submission.params["mail"]! });
  return answer(submission, portal, "unsubscribe.done");
}

function answer(
  { visitor }: Pick<Call, "visitor">,
  portal: Portal,
  text: "unsubscribe.done" | "unsubscribe.gone",
  status = 200,
): View {
  const { t } = visitor;
  const title = t("unsubscribe.title");
  return {
    title,
    status,
    body: (
      <Welcome visitor={visitor} portal={portal} title={title}>
        <p>{t(text)}</p>
        <p>
          <a href="/settings">{t("settings.title")}</a>
        </p>
      </Welcome>
    ),
  };
}
