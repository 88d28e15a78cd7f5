// Webhooks of the reseller: the list, and a new one, whose secret is shown once.

/** @jsxImportSource preact */

import type { Webhook } from "../../db/webhooks/webhooks.ts";
import { formatMicros } from "../../domain/ledger/money.ts";
import { ALL_EVENTS, parseEvents, WANTABLE_EVENTS } from "../../domain/webhooks/webhook-events.ts";
import { WEBHOOK_URL_LIMIT } from "../../domain/webhooks/webhook-urls.ts";
import { Box, Field, Fold, Form } from "../../web/components/fields.tsx";
import { List } from "../../web/components/lists.tsx";
import { Badge, Typed } from "../../web/components/shown.tsx";
import { shownOnce } from "../../web/components/shown-once.tsx";
import type { View } from "../../web/server/results.ts";
import { newSecret } from "../../webhooks/secrets.ts";
import { Time } from "../parts/shown.tsx";
import type { Submission } from "../server/call.ts";
import type { Portal } from "../server/portal.ts";
import type { Visitor } from "../server/visitor.ts";

/** Returns the events as text. */
export function eventsText({ t }: Visitor, events: string): string {
  return events
    .split(",")
    .map((event) => (event === ALL_EVENTS ? t("webhooks.allEvents") : event))
    .join(", ");
}

export function WebhookState({
  visitor: { t },
  of: { active, disabledReason },
}: {
  visitor: Visitor;
  of: Pick<Webhook, "active" | "disabledReason">;
}) {
  if (active || disabledReason === null) return <Badge state={t("team.active")} tone="good" />;
  return <Badge state={t(`webhooks.disabled.${disabledReason}`)} tone="bad" />;
}

export function Webhooks({
  visitor,
  webhooks,
}: {
  visitor: Visitor;
  webhooks: readonly Webhook[];
}) {
  const { t, formats } = visitor;
  return (
    <>
      <h2 id="webhooks">{t("webhooks.title")}</h2>
      <List
        caption={t("webhooks.title")}
        rows={webhooks}
        empty={t("webhooks.none")}
        columns={[
          {
            heading: t("webhooks.url"),
            cell: ({ id, url }) => (
              <a href={`/api/webhooks/${id}`}>
                <Typed text={url} />
              </a>
            ),
          },
          { heading: t("webhooks.events"), cell: ({ events }) => eventsText(visitor, events) },
          {
            heading: t("team.state"),
            cell: (webhook) => <WebhookState visitor={visitor} of={webhook} />,
          },
          {
            heading: t("webhooks.failures"),
            number: true,
            cell: ({ failures }) => formats.number(failures),
          },
          {
            heading: t("webhooks.created"),
            cell: ({ createdAt }) => <Time at={createdAt} visitor={visitor} />,
          },
        ]}
      />
      <Fold action="/api/webhooks" summary={t("webhooks.new")}>
        <Form action="/api/webhooks" submit={t("webhooks.create")}>
          <WebhookFields visitor={visitor} />
        </Form>
      </Fold>
    </>
  );
}

/** Fields of a webhook. `webhook`: its present values. */
export function WebhookFields({
  visitor: { t },
  webhook,
}: {
  visitor: Visitor;
  webhook?: Pick<Webhook, "url" | "events" | "balanceLowBelow">;
}) {
  const chosen = (webhook?.events ?? ALL_EVENTS).split(",");
  const threshold = webhook?.balanceLowBelow ?? null;
  return (
    <>
      <Field name="url" label={t("webhooks.url")} type="url" value={webhook?.url ?? ""} required />
      <fieldset>
        <legend>{t("webhooks.events")}</legend>
        {WANTABLE_EVENTS.map((event) => (
          <Box
            name="events"
            value={event}
            label={event === ALL_EVENTS ? t("webhooks.allEvents") : event}
            checked={chosen.includes(event)}
          />
        ))}
      </fieldset>
      <Field
        name="threshold"
        label={t("webhooks.threshold")}
        hint={t("webhooks.thresholdHint")}
        inputmode="decimal"
        value={threshold === null ? "" : formatMicros(threshold)}
      />
    </>
  );
}

/** Reads the fields of WebhookFields. The address must be one to which a delivery could be sent. */
export async function webhookTerms({ form, visitor }: Submission, { checkWebhookUrl }: Portal) {
  const { t } = visitor;
  const text = form.text("url", WEBHOOK_URL_LIMIT);
  const events = parseEvents(form.all("events"));
  if (!events) form.addError("events", t("webhooks.eventsWrong"));
  const balanceLowBelow = form.optionalAmount("threshold");
  form.check();
  const checked = await checkWebhookUrl(text);
  if ("must" in checked) form.addError("url", t("webhooks.urlWrong"));
  form.check();
  return { url: "url" in checked ? checked.url : "", events: events!.join(), balanceLowBelow };
}

/** Creates a webhook and shows its secret once. */
export async function createWebhook(submission: Submission, portal: Portal): Promise<View> {
  const terms = await webhookTerms(submission, portal);
  const secret = newSecret();
  await submission.submit("createWebhook", { username: null, secret, ...terms });
  return shownOnce(secret, submission.visitor.t("webhooks.secretTitle"), "/api");
}
