// Inspections ("View as"): an administrator opens the link that the panel made, sees the pages of a reseller, and ends it.

/** @jsxImportSource preact */

import { findOfferedInspection } from "../../db/members/inspections.ts";
import type { Inspection } from "../../db/tables/members.ts";
import { inspectionEnd } from "../../domain/members/inspections.ts";
import { refusal } from "../../domain/values/error-table.ts";
import { Field, Form } from "../../web/components/fields.tsx";
import type { Redirect, View } from "../../web/server/results.ts";
import { hashSecret } from "../../web/sessions/session-cookie.ts";
import { Time } from "../parts/shown.tsx";
import type { Call, Submission } from "../server/call.ts";
import type { Portal } from "../server/portal.ts";
import type { Visitor } from "../server/visitor.ts";

/** The routes that whoever inspects may use. */
export const INSPECTION: readonly string[] = [
  "/inspection",
  "/inspection/end",
  "/inspection/ended",
];
const TOKEN_LIMIT = 100;

export function inspectionPage({ visitor: { t } }: Call): View {
  const title = t("inspection.title");
  return {
    title,
    body: (
      <div class="narrow">
        <h1>{title}</h1>
        <p>{t("inspection.text")}</p>
        <Form action="/inspection" submit={t("site.continue")}>
          {/* The script copies the token of the link into the field. */}
          <div id="link-token">
            <Field name="token" label={t("field.token")} hint={t("field.tokenHint")} required />
          </div>
        </Form>
      </div>
    ),
  };
}

/** Opens an inspection by its link, once. Only a hash of the cookie's secret is stored. */
export async function openInspection(submission: Submission, portal: Portal): Promise<Redirect> {
  const { form, visitor } = submission;
  const tokenHash = hashSecret(form.text("token", TOKEN_LIMIT));
  form.check();
  // A wrong token writes nothing.
  const { found } = await submission.read((reader) => ({
    found: findOfferedInspection(reader, tokenHash),
  }));
  if (!found) throw refusal("invitation_invalid");
  const { cookie, hash } = visitor.inspectionCookie(found.id);
  await portal.writer.submit("openInspection", { tokenHash, hash });
  return { to: "/", cookie };
}

/** Says whose pages these are, and ends the inspection. */
export function InspectionBanner({ visitor, of }: { visitor: Visitor; of: Inspection }) {
  const { t, payer } = visitor;
  const [name, role] = [payer.username, t(`role.${of.role}`)];
  return (
    <div class="notice busy">
      <Form action="/../inspection/end">
        <p class="actions">
          <strong>{t("inspection.banner", { name, role })}</strong>
          <span>
            {t("inspection.until")} <Time at={inspectionEnd(of)} visitor={visitor} />
          </span>
          <button>{t("inspection.end")}</button>
        </p>
      </Form>
    </div>
  );
}

/** Ends the inspection, and shows the way back to the panel. */
export async function endInspection({ visitor }: Submission, portal: Portal): Promise<View> {
  const { inspection } = visitor;
  if (inspection === null) return endedView(visitor, null);
  const { id, panelUrl } = inspection;
  const back = `${panelUrl}/users/${encodeURIComponent(visitor.payer.username)}/members`;
  await portal.writer.submit("closeInspection", { id });
  visitor.forgetInspection();
  return endedView(visitor, back);
}

export function inspectionEndedPage({ visitor }: Call): View {
  return endedView(visitor, null);
}

function endedView(visitor: Visitor, back: string | null): View {
  const { t } = visitor;
  const title = t("inspection.ended");
  return {
    title,
    // The page may be asked for while an inspection lasts.
    ...(visitor.inspection === null && { cookie: visitor.endedInspectionCookie() }),
    body: (
      <div class="narrow">
        <h1>{title}</h1>
        <p>{t("inspection.endedText")}</p>
        {back !== null && (
          <p>
            <a href={back} rel="noreferrer">
              {t("inspection.back")}
            </a>
          </p>
        )}
      </div>
    ),
  };
}
