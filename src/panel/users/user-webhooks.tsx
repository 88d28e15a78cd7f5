// A reseller's webhooks: the list on the user's page, and a new one, whose secret is shown once.

/** @jsxImportSource preact */

import { findTestAccount, type User } from "../../db/users/users.ts";
import type { Reader } from "../../db/port/port.ts";
import { listWebhooks, type Webhook } from "../../db/webhooks/webhooks.ts";
import { newSecret } from "../../webhooks/secrets.ts";
import { ALL_EVENTS, parseEvents, WANTABLE_EVENTS } from "../../domain/webhooks/webhook-events.ts";
import { WEBHOOK_URL_LIMIT } from "../../domain/webhooks/webhook-urls.ts";
import { formatMicros } from "../../domain/ledger/money.ts";
import type { Submission } from "../server/call.ts";
import type { Panel } from "../server/panel.ts";
import type { View } from "../../web/server/results.ts";
import { Field, Fold, Form } from "../../web/components/fields.tsx";
import type { Form as Values } from "../../web/server/form.ts";
import { List } from "../../web/components/lists.tsx";
import { Badge, Time, Typed } from "../../web/components/shown.tsx";
import { shownOnce } from "../../web/components/shown-once.tsx";
import { userPath } from "./shown-user.ts";

const EVENTS_LIMIT = 1000;
const EVENTS_HINT = `separated by commas; empty: all but order.progress`;

/** A webhook of a user or of its test account. */
export interface UserWebhook extends Webhook {
  isTest: boolean;
}

export function listUserWebhooks(reader: Reader, { account }: User): UserWebhook[] {
  const test = findTestAccount(reader, account);
  const own = listWebhooks(reader, account).map((each) => ({ ...each, isTest: false }));
  if (!test) return own;
  return [...own, ...listWebhooks(reader, test.account).map((each) => ({ ...each, isTest: true }))];
}

/** Returns the events as text. All events except order.progress, the default, are not listed by name. */
export function eventsText(events: string): string {
  return events === ALL_EVENTS ? "all but order.progress" : events.replaceAll(",", ", ");
}

export function WebhookState({
  of: { active, disabledReason, isTest },
}: {
  of: Pick<UserWebhook, "active" | "disabledReason" | "isTest">;
}) {
  return (
    <>
      {active ? (
        <Badge state="active" />
      ) : (
        <Badge state={`disabled: ${disabledReason}`} tone="bad" />
      )}
      {isTest && (
        <>
          {" "}
          <Badge state="test" />
        </>
      )}
    </>
  );
}

export function Webhooks({
  webhooks,
  path,
  mayChange,
}: {
  webhooks: readonly UserWebhook[];
  /** Path of the user. */
  path: string;
  mayChange: boolean;
}) {
  return (
    <>
      <h2 id="webhooks">Webhooks</h2>
      <List
        caption="Webhooks, oldest first"
        rows={webhooks}
        empty="No webhooks yet."
        columns={[
          {
            heading: "Address",
            cell: ({ id, url }) => (
              <a href={`${path}/webhooks/${id}`}>
                <Typed text={url} />
              </a>
            ),
          },
          { heading: "Events", cell: ({ events }) => eventsText(events) },
          { heading: "State", cell: (each) => <WebhookState of={each} /> },
          { heading: "Failures", number: true, cell: ({ failures }) => failures },
          { heading: "Created (UTC)", cell: ({ createdAt }) => <Time at={createdAt} /> },
        ]}
      />
      {mayChange && (
        <Fold action={`${path}/webhooks`} summary="New webhook">
          <Form action={`${path}/webhooks`} submit="Create the webhook">
            <WebhookFields />
          </Form>
        </Fold>
      )}
    </>
  );
}

/** Fields of a webhook. `webhook`: its present values. */
export function WebhookFields({ webhook }: { webhook?: Webhook }) {
  const threshold = webhook?.balanceLowBelow ?? null;
  return (
    <>
      <Field name="url" label="Address" type="url" value={webhook?.url ?? ""} required />
      <Field
        name="events"
        label="Events"
        value={webhook === undefined || webhook.events === ALL_EVENTS ? "" : webhook.events}
        hint={EVENTS_HINT}
      />
      <Field
        name="threshold"
        label="Low balance below, USD"
        inputmode="decimal"
        value={threshold === null ? "" : formatMicros(threshold)}
        hint="empty: no balance.low events"
      />
    </>
  );
}

/** Reads the fields of WebhookFields. The address must be one to which a delivery could be sent. */
export async function webhookTerms(form: Values, { checkWebhookUrl }: Panel) {
  const text = form.text("url", WEBHOOK_URL_LIMIT);
  const events = eventsOf(form);
  const balanceLowBelow = form.raw("threshold") === "" ? null : form.amount("threshold");
  form.check();
  const found = await checkWebhookUrl(text);
  if ("must" in found) {
    form.refuse("url", found.must);
    form.check();
    throw new Error("unreachable");
  }
  return { url: found.url, events, balanceLowBelow };
}

function eventsOf(form: Values): string {
  const given = form.optionalText("events", EVENTS_LIMIT);
  if (given === null) return ALL_EVENTS;
  const known = parseEvents(given.split(/[\s,]+/));
  if (!known) form.refuse("events", `a list of ${WANTABLE_EVENTS.join(", ")}`);
  return known?.join() ?? "";
}

export async function createWebhook(submission: Submission, panel: Panel): Promise<View> {
  const username = submission.params["user"]!;
  const terms = await webhookTerms(submission.form, panel);
  const secret = newSecret();
  await submission.submit("createWebhook", { username, secret, ...terms });
  const path = `${userPath(username)}#webhooks`;
  return shownOnce(secret, `Secret of the new webhook of ${username}`, path);
}
