// One webhook of the reseller: its terms, its secret, its deliveries, and replays.

/** @jsxImportSource preact */

import type { Reader } from "../../db/port/port.ts";
import { countWaiting, listWebhookAttempts } from "../../db/webhooks/webhook-deliveries.ts";
import { findWebhook, type Webhook } from "../../db/webhooks/webhooks.ts";
import { refusal } from "../../domain/values/error-table.ts";
import { DAY_MS } from "../../domain/values/spans.ts";
import {
  formatAttemptId,
  REPLAY_LIMIT_MS,
  WEBHOOK_OUTCOMES,
} from "../../domain/webhooks/webhooks.ts";
import { Box, Field, Fold, Form } from "../../web/components/fields.tsx";
import { chosenGraceMs, Grace } from "../../web/components/grace.tsx";
import { Facts, List, Pager } from "../../web/components/lists.tsx";
import { Badge, Typed } from "../../web/components/shown.tsx";
import { shownOnce } from "../../web/components/shown-once.tsx";
import type { Redirect, View } from "../../web/server/results.ts";
import { newSecret } from "../../webhooks/secrets.ts";
import { Time } from "../parts/shown.tsx";
import type { Call, Submission } from "../server/call.ts";
import type { Portal } from "../server/portal.ts";
import type { Visitor } from "../server/visitor.ts";
import { eventsText, WebhookFields, WebhookState, webhookTerms } from "./webhooks.tsx";

const PAGE_SIZE = 50;
const REPLAY_LIMIT_DAYS = REPLAY_LIMIT_MS / DAY_MS;

/** Finds a webhook of the reseller. Refuses: webhook_not_found. */
function requireOwnWebhook(reader: Reader, { visitor, params }: Call): Webhook {
  const found = findWebhook(reader, params["webhook"]!);
  if (found?.resellerAccount !== visitor.account) throw refusal("webhook_not_found");
  return found;
}

export async function webhookPage(call: Call): Promise<View> {
  const { visitor } = call;
  const { t, formats } = visitor;
  const { webhook, waiting, rows, next } = await call.read((reader) => {
    const found = requireOwnWebhook(reader, call);
    const page = listWebhookAttempts(reader, found, call.filters.below(), PAGE_SIZE);
    return { ...page, webhook: found, waiting: countWaiting(reader, found.webhookId) };
  });
  const path = pathOf(webhook);
  return {
    title: t("webhooks.one"),
    body: (
      <>
        <div class="head">
          <h1>{t("webhooks.one")}</h1>
          <WebhookState visitor={visitor} of={webhook} />
        </div>
        <div class="columns">
          <section class="card">
            <Facts
              facts={[
                [t("webhooks.url"), <Typed text={webhook.url} />],
                [t("webhooks.events"), eventsText(visitor, webhook.events)],
                [t("webhooks.waiting"), formats.number(waiting)],
                [t("webhooks.failures"), formats.number(webhook.failures)],
                [t("webhooks.failingSince"), <Time at={webhook.failingSince} visitor={visitor} />],
                [t("webhooks.created"), <Time at={webhook.createdAt} visitor={visitor} />],
              ]}
            />
            <Switches visitor={visitor} webhook={webhook} />
            <p>
              <a href="/api">{t("api.title")}</a>
            </p>
          </section>
          <section class="card">
            <h2>{t("webhooks.change")}</h2>
            <Form action={path} submit={t("site.save")}>
              <WebhookFields visitor={visitor} webhook={webhook} />
            </Form>
          </section>
        </div>
        <h2 id="deliveries">{t("webhooks.deliveries")}</h2>
        <List
          caption={t("webhooks.deliveries")}
          rows={rows}
          empty={t("webhooks.noDeliveries")}
          columns={[
            { heading: t("webhooks.when"), cell: ({ at }) => <Time at={at} visitor={visitor} /> },
            { heading: t("webhooks.event"), cell: ({ type }) => type },
            { heading: t("webhooks.attempt"), number: true, cell: ({ attempt }) => attempt },
            {
              heading: t("webhooks.outcome"),
              cell: ({ error, httpStatus }) => (
                <Badge
                  state={outcomeText(visitor, httpStatus, error)}
                  tone={error === null ? "good" : "bad"}
                />
              ),
            },
            {
              heading: t("webhooks.duration"),
              number: true,
              cell: ({ durationMs }) => formats.number(durationMs),
            },
            { heading: t("webhooks.response"), cell: ({ response }) => <Typed text={response} /> },
            {
              heading: t("webhooks.sendAgain"),
              cell: ({ eventId, attempt }) => {
                const delivery = formatAttemptId(eventId, attempt);
                return (
                  <Form action={`${path}/replay`} hidden={{ delivery }}>
                    <button>
                      {t("webhooks.sendAgain")}
                      <span class="hidden"> {delivery}</span>
                    </button>
                  </Form>
                );
              },
            },
          ]}
        />
        <Pager call={call} next={next} />
        <Fold action={`${path}/replay`} summary={t("webhooks.sendFailed")}>
          <Form action={`${path}/replay`} submit={t("webhooks.sendAgain")}>
            <Field
              name="since"
              label={t("webhooks.since")}
              hint={t("webhooks.sinceHint", { count: REPLAY_LIMIT_DAYS })}
              type="date"
              required
            />
          </Form>
        </Fold>
      </>
    ),
  };
}

/** Returns the status that the receiver answered with, and what became of the attempt. */
function outcomeText({ t }: Visitor, httpStatus: number | null, error: string | null): string {
  const outcome = WEBHOOK_OUTCOMES.find((each) => each === (error ?? "delivered"));
  const text = outcome === undefined ? error : t(`outcome.${outcome}`);
  return [httpStatus, text].filter((each) => each !== null).join(" · ");
}

function Switches({ visitor: { t }, webhook }: { visitor: Visitor; webhook: Webhook }) {
  const path = pathOf(webhook);
  return (
    <>
      {!webhook.active && (
        <Form action={`${path}/enable`} submit={t("webhooks.enable")}>
          <Box name="replay" label={t("webhooks.sendKept")} />
        </Form>
      )}
      <div class="inline actions">
        <Form action={`${path}/test`}>
          <button>{t("webhooks.test")}</button>
        </Form>
        {webhook.active && (
          <Form action={`${path}/disable`}>
            <button>{t("webhooks.disable")}</button>
          </Form>
        )}
        <Form action={`${path}/delete`}>
          <button class="danger">{t("webhooks.delete")}</button>
        </Form>
      </div>
      <Fold action={`${path}/rotate`} summary={t("webhooks.newSecret")}>
        <Form action={`${path}/rotate`} submit={t("webhooks.newSecret")}>
          <Grace label={t("webhooks.grace")} />
        </Form>
      </Fold>
    </>
  );
}

export async function updateWebhook(submission: Submission, portal: Portal): Promise<Redirect> {
  const webhook = await webhookOf(submission);
  const changes = await webhookTerms(submission, portal);
  await submission.submit("updateWebhook", { id: webhook.id, changes });
  return { to: pathOf(webhook), note: submission.visitor.t("site.saved") };
}

export async function testWebhook(submission: Submission): Promise<Redirect> {
  const webhook = await webhookOf(submission);
  await submission.submit("testWebhook", { id: webhook.id });
  return { to: pathOf(webhook), note: submission.visitor.t("webhooks.testSent") };
}

export async function rotateWebhook(submission: Submission): Promise<View> {
  const webhook = await webhookOf(submission);
  const graceMs = chosenGraceMs(submission.form);
  const secret = newSecret();
  await submission.submit("rotateWebhook", { id: webhook.id, secret, graceMs });
  return shownOnce(secret, submission.visitor.t("webhooks.secretTitle"), pathOf(webhook));
}

export async function enableWebhook(submission: Submission): Promise<Redirect> {
  const webhook = await webhookOf(submission);
  const replay = submission.form.isChecked("replay");
  await submission.submit("enableWebhook", { id: webhook.id, replay });
  return { to: pathOf(webhook), note: submission.visitor.t("webhooks.enabled") };
}

export async function disableWebhook(submission: Submission): Promise<Redirect> {
  const webhook = await webhookOf(submission);
  await submission.submit("disableWebhook", { id: webhook.id });
  return { to: pathOf(webhook), note: submission.visitor.t("webhooks.wasDisabled") };
}

export async function deleteWebhook(submission: Submission): Promise<Redirect> {
  const { t } = submission.visitor;
  const { id, url } = await webhookOf(submission);
  await submission.confirm({
    title: t("webhooks.confirmDelete"),
    moves: [],
    danger: true,
    details: (
      <p>
        <Typed text={url} />: {t("webhooks.deleteText")}
      </p>
    ),
  });
  await submission.submit("deleteWebhook", { id });
  return { to: "/api", note: t("webhooks.deleted") };
}

/** Sends one delivery again, or all failed ones since a day. */
export async function replayWebhook(submission: Submission, { now }: Portal): Promise<Redirect> {
  const webhook = await webhookOf(submission);
  const { form, visitor } = submission;
  const { t } = visitor;
  const delivery = form.optionalText("delivery");
  const since = form.optionalTime("since");
  if (delivery === null && since === null) form.addError("since", t("field.required"));
  if (since !== null && since < now() - REPLAY_LIMIT_MS) {
    form.addError("since", t("webhooks.sinceHint", { count: REPLAY_LIMIT_DAYS }));
  }
  const what = delivery === null ? { since: since ?? 0 } : { delivery };
  const count = await submission.submit("replayWebhook", { id: webhook.id, what });
  return { to: pathOf(webhook), note: t("webhooks.replayed", { count }) };
}

function webhookOf(submission: Submission): Promise<Webhook> {
  return submission.read((reader) => requireOwnWebhook(reader, submission));
}

function pathOf({ id }: Webhook): string {
  return `/api/webhooks/${id}`;
}
