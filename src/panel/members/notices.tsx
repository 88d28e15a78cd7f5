// Notices: texts for all members, which they see on their first page until an end or until they are removed.

/** @jsxImportSource preact */

import { listNotices, type Notice } from "../../db/members/notices.ts";
import { mayAct } from "../../domain/administrators/administrators.ts";
import { type Language, LANGUAGE_NAMES, LANGUAGES } from "../../domain/members/languages.ts";
import { isShown, type NoticeTexts } from "../../domain/members/notices.ts";
import { NOTE } from "../../domain/values/kinds.ts";
import { Field, Fold, Form } from "../../web/components/fields.tsx";
import { List } from "../../web/components/lists.tsx";
import { PageHead } from "../../web/components/page-head.tsx";
import { Time, Typed } from "../../web/components/shown.tsx";
import type { Redirect, View } from "../../web/server/results.ts";
import type { Call, Submission } from "../server/call.ts";
import type { Panel } from "../server/panel.ts";
import { MemberTabs } from "./members.tsx";
import { PortalOff } from "./shown-member.tsx";

const PATH = "/members/notices";

export async function noticesPage(call: Call, panel: Panel): Promise<View> {
  const { visitor } = call;
  const all = await call.read(listNotices);
  const mayChange = mayAct(visitor.administrator.role, "operator");
  return {
    title: "Notices",
    body: (
      <>
        <PageHead title="Notices" />
        <MemberTabs chosen="notices" waiting={visitor.waitingRegistrations} />
        <PortalOff panel={panel} />
        <p>All members see these texts on their first page.</p>
        <List
          caption="Notices, newest first"
          rows={all.filter((notice) => isShown(notice, panel.now()))}
          empty="No notices."
          columns={[
            { heading: "Text", cell: ({ texts }) => <Texts texts={texts} /> },
            { heading: "Added (UTC)", cell: ({ createdAt }) => <Time at={createdAt} /> },
            {
              heading: "Until (UTC)",
              cell: ({ untilAt }) => (untilAt === null ? "you remove it" : <Time at={untilAt} />),
            },
            ...(mayChange
              ? [{ heading: "Remove", cell: (each: Notice) => <Remove notice={each} /> }]
              : []),
          ]}
        />
        {mayChange && (
          <Fold action={PATH} summary="Add a notice">
            <Form action={PATH} submit="Show it to all members">
              {LANGUAGES.map((language) => (
                <Field
                  name={language}
                  label={`Text in ${LANGUAGE_NAMES[language]}`}
                  hint={
                    language === "en" ? "also shown for the languages that you leave empty" : ""
                  }
                  required={language === "en"}
                />
              ))}
              <Field
                name="until"
                label="Until (UTC)"
                type="date"
                hint="to the end of this day; empty: until you remove it"
              />
            </Form>
          </Fold>
        )}
      </>
    ),
  };
}

function Texts({ texts }: { texts: NoticeTexts }) {
  return (
    <>
      {LANGUAGES.filter((language) => texts[language] !== undefined).map((language) => (
        <p lang={language}>
          <Typed text={texts[language]!} />
        </p>
      ))}
    </>
  );
}

function Remove({ notice: { id, texts } }: { notice: Notice }) {
  return (
    <Form action={`${PATH}/${id}/remove`}>
      <button>
        Remove
        <span class="hidden">
          {" "}
          <Typed text={texts.en} />
        </span>
      </button>
    </Form>
  );
}

export async function addNotice(submission: Submission): Promise<Redirect> {
  const { form } = submission;
  const given = LANGUAGES.flatMap((language) => {
    const text =
      language === "en" ? form.required(language, NOTE, "") : form.optional(language, NOTE, "");
    return text === null ? [] : [[language, text] as const];
  });
  const untilAt = form.optionalTime("until", true);
  const texts = Object.fromEntries(given) as Record<Language, string>;
  await submission.submit("addNotice", { texts, untilAt });
  return { to: PATH, note: "All members see the notice." };
}

export async function removeNotice(submission: Submission): Promise<Redirect> {
  await submission.submit("removeNotice", { id: submission.params["notice"]! });
  return { to: PATH, note: "The notice was removed." };
}
