// What a member does who forgot the password: the operator or an owner makes a link.

/** @jsxImportSource preact */

import type { View } from "../../web/server/results.ts";
import { ContactLink, Welcome } from "../parts/welcome.tsx";
import type { Call } from "../server/call.ts";
import type { Portal } from "../server/portal.ts";

export function forgottenPage({ visitor }: Call, portal: Portal): View {
  const { t } = visitor;
  const { contact } = portal.settings;
  return {
    title: t("reset.title"),
    body: (
      <Welcome visitor={visitor} portal={portal} title={t("reset.title")}>
        <p>{t("reset.text")}</p>
        {contact !== null && (
          <p>
            {t("reset.contact")} <ContactLink contact={contact} />
          </p>
        )}
        <p>{t("reset.owner")}</p>
        <p>
          <a href="/sign-in">{t("signIn.title")}</a>
        </p>
      </Welcome>
    ),
  };
}
