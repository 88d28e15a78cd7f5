// One webhook of a reseller: its terms, its deliveries, and replays.

/** @jsxImportSource preact */

import type { Reader } from "../../db/port/port.ts";
import { countWaiting, listWebhookAttempts } from "../../db/webhooks/webhook-deliveries.ts";
import { mayAct } from "../../domain/administrators/administrators.ts";
import { refusal } from "../../domain/values/error-table.ts";
import { formatAttemptId, REPLAY_LIMIT_MS } from "../../domain/webhooks/webhooks.ts";
import { newSecret } from "../../webhooks/secrets.ts";
import type { Call, Submission } from "../server/call.ts";
import type { Panel } from "../server/panel.ts";
import type { Redirect, View } from "../../web/server/results.ts";
import { Box, Field, Fold, Form } from "../../web/components/fields.tsx";
import { Facts, List, Pager } from "../../web/components/lists.tsx";
import { Badge, Time, Typed } from "../../web/components/shown.tsx";
import { requireShownUser, userPath } from "../users/shown-user.ts";
import { chosenGraceMs, Grace } from "../../web/components/grace.tsx";
import { shownOnce } from "../../web/components/shown-once.tsx";
import {
  eventsText,
  listUserWebhooks,
  type UserWebhook,
  WebhookFields,
  WebhookState,
  webhookTerms,
} from "../users/user-webhooks.tsx";
import { DAY_MS } from "../../domain/values/spans.ts";

const PAGE = 50;
const DAYS = REPLAY_LIMIT_MS / DAY_MS;

/** Returns the webhook of this user. Throws user_not_found, webhook_not_found. */
function requireWebhook(reader: Reader, { params }: Call): UserWebhook {
  const user = requireShownUser(reader, params["user"]!);
  const found = listUserWebhooks(reader, user).find(({ id }) => id === params["webhook"]);
  if (!found) throw refusal("webhook_not_found");
  return found;
}

export async function webhookPage(call: Call): Promise<View> {
  const { webhook, waiting, rows, next } = await call.read((reader) => {
    const found = requireWebhook(reader, call);
    const page = listWebhookAttempts(reader, found, call.filters.below(), PAGE);
    return { ...page, webhook: found, waiting: countWaiting(reader, found.webhookId) };
  });
  const username = call.params["user"]!;
  const path = pathOf(call);
  const mayChange = mayAct(call.visitor.administrator.role, "operator");
  const { active, disabledAt, failures, failingSince } = webhook;
  return {
    title: `Webhook of ${username}`,
    body: (
      <>
        <h1>
          Webhook of <a href={userPath(call.params["user"]!)}>{username}</a>{" "}
          <WebhookState of={webhook} />
        </h1>
        <div class="columns">
          <section class="card">
            <Facts
              facts={[
                ["Address", <Typed text={webhook.url} />],
                ["Events", eventsText(webhook.events)],
                ["Id", <code>{webhook.id}</code>],
                ["Waiting", waiting],
                ["Failures since the last success", failures],
                ["Failing since (UTC)", <Time at={failingSince} />],
                ["Disabled (UTC)", <Time at={active ? null : disabledAt} />],
                ["Created (UTC)", <Time at={webhook.createdAt} />],
              ]}
            />
            {mayChange && <Switches webhook={webhook} path={path} />}
          </section>
          {mayChange && (
            <section class="card">
              <Form action={path} submit="Save">
                <h2>Terms</h2>
                <WebhookFields webhook={webhook} />
              </Form>
            </section>
          )}
        </div>
        <h2 id="deliveries">Deliveries</h2>
        <List
          caption="Attempts, newest first"
          rows={rows}
          empty="Nothing was sent yet."
          columns={[
            { heading: "When (UTC)", cell: ({ at }) => <Time at={at} /> },
            { heading: "Event", cell: ({ type }) => type },
            { heading: "Attempt", number: true, cell: ({ attempt }) => attempt },
            {
              heading: "Outcome",
              cell: ({ error, httpStatus }) => (
                <Badge
                  state={[httpStatus, error].filter((each) => each !== null).join(" ")}
                  tone={error === null ? "good" : "bad"}
                />
              ),
            },
            { heading: "ms", number: true, cell: ({ durationMs }) => durationMs },
            { heading: "Response", cell: ({ response }) => <Typed text={response} /> },
            ...(mayChange
              ? [
                  {
                    heading: "Send again",
                    cell: ({ eventId, attempt }: (typeof rows)[number]) => {
                      const delivery = formatAttemptId(eventId, attempt);
                      return (
                        <Form action={`${path}/replay`} hidden={{ delivery }}>
                          <button aria-label={`Send again: ${delivery}`}>Send again</button>
                        </Form>
                      );
                    },
                  },
                ]
              : []),
          ]}
        />
        <Pager call={call} next={next} />
        {mayChange && (
          <Fold action={`${path}/replay`} summary="Send all failed events again">
            <Form action={`${path}/replay`} submit="Send again">
              <Field
                name="since"
                label="Since"
                type="date"
                hint={`at most ${DAYS} days ago`}
                required
              />
            </Form>
          </Fold>
        )}
      </>
    ),
  };
}

function Switches({ webhook: { active }, path }: { webhook: UserWebhook; path: string }) {
  return (
    <>
      {!active && (
        <Form action={`${path}/enable`} submit="Enable">
          <Box name="replay" label="Send the events that were kept" />
        </Form>
      )}
      <div class="inline actions">
        <Form action={`${path}/test`}>
          <button>Send a test event</button>
        </Form>
        {active && (
          <Form action={`${path}/disable`}>
            <button>Disable</button>
          </Form>
        )}
        <Form action={`${path}/delete`}>
          <button class="danger">Delete</button>
        </Form>
      </div>
      <Fold action={`${path}/rotate`} summary="New secret">
        <Form action={`${path}/rotate`} submit="Rotate">
          <Grace label="The old secret still signs for" />
        </Form>
      </Fold>
    </>
  );
}

export async function updateWebhook(submission: Submission, panel: Panel): Promise<Redirect> {
  const { id } = await webhookOf(submission);
  const changes = await webhookTerms(submission.form, panel);
  await submission.submit("updateWebhook", { id, changes });
  return { to: pathOf(submission), note: "The webhook was saved." };
}

export async function testWebhook(submission: Submission): Promise<Redirect> {
  const { id } = await webhookOf(submission);
  await submission.submit("testWebhook", { id });
  return { to: `${pathOf(submission)}#deliveries`, note: "A test event is being sent." };
}

export async function rotateWebhook(submission: Submission): Promise<View> {
  const { id } = await webhookOf(submission);
  const graceMs = chosenGraceMs(submission.form);
  const secret = newSecret();
  await submission.submit("rotateWebhook", { id, secret, graceMs });
  return shownOnce(secret, "The new secret of the webhook", pathOf(submission));
}

export async function enableWebhook(submission: Submission): Promise<Redirect> {
  const { id } = await webhookOf(submission);
  await submission.submit("enableWebhook", { id, replay: submission.form.isChecked("replay") });
  return { to: pathOf(submission), note: "The webhook is active." };
}

export async function disableWebhook(submission: Submission): Promise<Redirect> {
  const { id } = await webhookOf(submission);
  await submission.submit("disableWebhook", { id });
  return { to: pathOf(submission), note: "The webhook is disabled." };
}

export async function deleteWebhook(submission: Submission): Promise<Redirect> {
  const { id, url } = await webhookOf(submission);
  const details = (
    <p>
      Nothing more will be sent to <Typed text={url} />, not even waiting events.
    </p>
  );
  await submission.confirm({ title: "Delete the webhook", moves: [], danger: true, details });
  await submission.submit("deleteWebhook", { id });
  return {
    to: `${userPath(submission.params["user"]!)}#webhooks`,
    note: "The webhook was deleted.",
  };
}

export async function replayWebhook(submission: Submission, panel: Panel): Promise<Redirect> {
  const { id } = await webhookOf(submission);
  const { form } = submission;
  const delivery = form.optionalText("delivery");
  const since = form.optionalTime("since");
  if (delivery === null && since === null) form.addError("since", "since is required");
  if (since !== null && since < panel.now() - REPLAY_LIMIT_MS) {
    form.refuse("since", `at most ${DAYS} days ago`);
  }
  const what = delivery === null ? { since: since ?? 0 } : { delivery };
  const queued = await submission.submit("replayWebhook", { id, what });
  return {
    to: `${pathOf(submission)}#deliveries`,
    note: `${queued === 1 ? "1 is" : `${queued} are`} being sent again.`,
  };
}

function webhookOf(submission: Submission): Promise<UserWebhook> {
  return submission.read((reader) => requireWebhook(reader, submission));
}

function pathOf(call: Call): string {
  return `${userPath(call.params["user"]!)}/webhooks/${encodeURIComponent(call.params["webhook"]!)}`;
}
