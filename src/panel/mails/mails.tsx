// E-mails: what waits, what failed and why. A mail that failed can be sent again.

/** @jsxImportSource preact */

import { countWaitingMails, isMailOn, listMailsFailedFirst } from "../../db/mails/mails.ts";
import type { Mail } from "../../db/tables/mails.ts";
import { findUserByAccount } from "../../db/users/users.ts";
import { mayAct } from "../../domain/administrators/administrators.ts";
import type { MailKind, MailState } from "../../domain/mails/mails.ts";
import { Form } from "../../web/components/fields.tsx";
import { List } from "../../web/components/lists.tsx";
import { PageHead } from "../../web/components/page-head.tsx";
import { Badge, Time, Typed } from "../../web/components/shown.tsx";
import type { Redirect, View } from "../../web/server/results.ts";
import type { Call, Submission } from "../server/call.ts";
import { MemberTabs } from "../members/members.tsx";
import { userPath } from "../users/shown-user.ts";

const PATH = "/members/mails";
/** Limit for the list. */
const SHOWN = 100;

const KINDS: Record<MailKind, string> = {
  invitation: "invitation",
  password_reset: "new password",
  registration: "address to confirm",
  registration_known: "address is known",
  address_change: "new address",
  address_changed: "address was changed",
  sign_in: "new sign-in",
  low_balance: "low balance",
  payment_paid: "payment received",
  payment_rejected: "payment rejected",
  order_refund: "order refunded",
  alert: "alert",
  registration_to_approve: "registration to approve",
  payment_to_approve: "payment to approve",
};

const TONES = {
  waiting: "busy",
  sending: "busy",
  sent: "good",
  failed: "bad",
  dropped: "quiet",
} as const satisfies Record<MailState, string>;

export async function mailsPage(call: Call): Promise<View> {
  const { visitor } = call;
  const mayRetry = mayAct(visitor.administrator.role, "operator");
  const { isOn, waiting, rows } = await call.read((reader) => ({
    isOn: isMailOn(reader),
    waiting: countWaitingMails(reader),
    rows: listMailsFailedFirst(reader, SHOWN).map((mail) => ({
      mail,
      username: mail.account === null ? null : findUserByAccount(reader, mail.account)!.username,
    })),
  }));
  return {
    title: "E-mails",
    body: (
      <>
        <PageHead title="E-mails" />
        <MemberTabs chosen="mails" waiting={visitor.waitingRegistrations} />
        {isOn ? (
          <p>{waiting === 0 ? "No e-mail waits." : `${waiting} wait or are being sent.`}</p>
        ) : (
          <p class="notice busy">
            No e-mails are sent. To send them, start the server with <code>--smtp</code>.
          </p>
        )}
        <List
          caption="E-mails of the last 60 days, those that failed first"
          compact
          rows={rows}
          empty="No e-mails."
          columns={[
            { heading: "Queued (UTC)", cell: ({ mail }) => <Time at={mail.createdAt} /> },
            { heading: "About", cell: ({ mail }) => KINDS[mail.kind] },
            { heading: "To", cell: ({ mail }) => <Typed text={mail.email} /> },
            {
              heading: "Reseller",
              cell: ({ username }) =>
                username === null ? "–" : <a href={userPath(username)}>{username}</a>,
            },
            {
              heading: "State",
              cell: ({ mail }) => <Badge state={mail.state} tone={TONES[mail.state]} />,
            },
            { heading: "Why", cell: ({ mail }) => <Why of={mail} /> },
            ...(mayRetry
              ? [{ heading: "Again", cell: ({ mail }: { mail: Mail }) => <Retry of={mail} /> }]
              : []),
          ]}
        />
      </>
    ),
  };
}

function Why({ of: { error, reply, state } }: { of: Mail }) {
  if (error === null || state === "sent") return <>–</>;
  return <Typed text={reply === null ? error : `${error}: ${reply}`} />;
}

function Retry({ of: { mailId, state, email } }: { of: Mail }) {
  if (state !== "failed" && state !== "dropped") return <>–</>;
  return (
    <Form action={`${PATH}/${mailId}/retry`}>
      <button>
        Send again
        <span class="hidden">
          {" "}
          to <Typed text={email} />
        </span>
      </button>
    </Form>
  );
}

export async function retryMail(submission: Submission): Promise<Redirect> {
  const mailId = Number(submission.params["mail"]);
  await submission.submit("retryMail", { mailId });
  return { to: PATH, note: "The e-mail is sent again." };
}
