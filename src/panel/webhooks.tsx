// Webhooks: those of a user, and one of them with what was sent to it.

/** @jsxImportSource preact */

import { countWaiting, listWebhookAttempts } from "../db/webhook-deliveries.ts";
import { findWebhook, type Webhook, withUsername } from "../db/webhooks.ts";
import { mayAct } from "../domain/administrators.ts";
import { refusal } from "../domain/refusals.ts";
import { isDisabledByFailures, type ShownDelivery } from "../domain/webhooks.ts";
import type { Call, Panel, Redirect, Submission, View } from "./call.ts";
import { Box, Choice, Form } from "./fields.tsx";
import { Facts, List, Pager } from "./lists.tsx";
import { Badge, Time, Typed } from "./shown.tsx";

const PAGE = 50;
const HOUR_MS = 3_600_000;
const REPLAY_HOURS = ["1", "24", "168", "336"] as const;

export function Webhooks({ webhooks }: { webhooks: readonly Webhook[] }) {
  return (
    <>
      <h2 id="webhooks">Webhooks</h2>
      <List
        caption="Webhooks, oldest first"
        rows={webhooks}
        empty="No webhooks."
        columns={[
          { heading: "Webhook", cell: ({ id }) => <a href={`/webhooks/${id}`}>{id}</a> },
          { heading: "Address", cell: ({ url }) => <Typed text={url} /> },
          { heading: "State", cell: (each) => <State of={each} /> },
          {
            heading: "Failing since (UTC)",
            cell: ({ failingSince }) => <Time at={failingSince} />,
          },
        ]}
      />
    </>
  );
}

function State({ of: webhook }: { of: Webhook }) {
  const { active, disabledReason, failingSince } = webhook;
  if (active) {
    return failingSince === null ? <Badge state="active" /> : <Badge state="failing" tone="bad" />;
  }
  const isFailed = isDisabledByFailures(webhook);
  return <Badge state={`disabled: ${disabledReason}`} tone={isFailed ? "bad" : "quiet"} />;
}

export async function webhookPage(call: Call): Promise<View> {
  const { webhook, waiting, rows, next } = await call.read((reader) => {
    const found = findWebhook(reader, call.params["webhook"]!);
    if (!found) throw refusal("webhook_not_found");
    return {
      webhook: withUsername(reader, found),
      waiting: countWaiting(reader, found.webhookId),
      ...listWebhookAttempts(reader, found, call.filters.below(), PAGE),
    };
  });
  const { id, username } = webhook;
  return {
    title: `Webhook ${id}`,
    body: (
      <>
        <h1>
          Webhook of <a href={`/users/${encodeURIComponent(username)}`}>{username}</a>{" "}
          <State of={webhook} />
        </h1>
        <div class="columns">
          <section class="card">
            <Facts
              facts={[
                ["Id", <code>{id}</code>],
                ["Address", <Typed text={webhook.url} />],
                ["Events", webhook.events.replaceAll(",", ", ")],
                ["Waiting", waiting],
                ["Failures since a success", webhook.failures],
                ["Failing since (UTC)", <Time at={webhook.failingSince} />],
                ["Disabled (UTC)", <Time at={webhook.disabledAt} />],
                ["Created (UTC)", <Time at={webhook.createdAt} />],
              ]}
            />
            <p class="actions">
              <a href={`/audit?subject=${id}`}>Who changed what</a>
            </p>
          </section>
          {mayAct(call.administrator.role, "operator") && <Changes webhook={webhook} />}
        </div>
        <h2>Deliveries</h2>
        <Deliveries rows={rows} />
        <Pager call={call} next={next} />
      </>
    ),
  };
}

function Changes({ webhook: { id, active } }: { webhook: Webhook }) {
  const path = `/webhooks/${id}`;
  return (
    <section class="card">
      <Form action={`${path}/test`}>
        <h2>Try it</h2>
        <p class="actions">
          <button>Send a test event</button>
        </p>
      </Form>
      <Form action={`${path}/replay`} submit="Send it again">
        <h2>Send again</h2>
        <Choice
          name="hours"
          label="What failed in the last"
          value="24"
          options={[
            ["1", "hour"],
            ["24", "day"],
            ["168", "week"],
            ["336", "two weeks"],
          ]}
        />
      </Form>
      {active ? (
        <Form action={`${path}/disable`}>
          <p class="actions">
            <button>Disable</button>
          </p>
        </Form>
      ) : (
        <Form action={`${path}/enable`} submit="Enable">
          <Box name="replay" label="send what was kept meanwhile" checked />
        </Form>
      )}
    </section>
  );
}

function Deliveries({ rows }: { rows: readonly ShownDelivery[] }) {
  return (
    <List
      caption="Deliveries, newest first"
      rows={rows}
      empty="Nothing was sent in the last 30 days."
      columns={[
        { heading: "When (UTC)", cell: ({ at }) => <Time at={at} /> },
        { heading: "Event", cell: ({ type }) => type },
        { heading: "Try", number: true, cell: ({ attempt }) => attempt },
        { heading: "Status", number: true, cell: ({ httpStatus }) => httpStatus ?? "–" },
        { heading: "Error", cell: ({ error }) => <Typed text={error} /> },
        { heading: "Answer", cell: ({ response }) => <Typed text={response} /> },
        { heading: "ms", number: true, cell: ({ durationMs }) => durationMs },
      ]}
    />
  );
}

export async function testWebhook(submission: Submission): Promise<Redirect> {
  await submission.submit("testWebhook", { id: idOf(submission) });
  return done(submission, "A test event is sent.");
}

export async function replayWebhook(submission: Submission, panel: Panel): Promise<Redirect> {
  const hours = Number(submission.form.choice("hours", REPLAY_HOURS));
  const since = panel.now() - hours * HOUR_MS;
  const queued = await submission.submit("replayWebhook", {
    id: idOf(submission),
    what: { since },
  });
  return done(submission, `Deliveries that are sent once more: ${queued}.`);
}

export async function disableWebhook(submission: Submission): Promise<Redirect> {
  await submission.submit("disableWebhook", { id: idOf(submission) });
  return done(submission, "The webhook is disabled: nothing is sent to it.");
}

export async function enableWebhook(submission: Submission): Promise<Redirect> {
  const replay = submission.form.isChecked("replay");
  await submission.submit("enableWebhook", { id: idOf(submission), replay });
  return done(submission, "The webhook is enabled.");
}

function idOf({ params }: Submission): string {
  return params["webhook"]!;
}

function done(submission: Submission, note: string): Redirect {
  return { to: `/webhooks/${encodeURIComponent(idOf(submission))}`, note };
}
