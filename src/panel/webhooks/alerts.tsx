// Alerts: open and past problems, and where the operator is notified. A secret or a token is never shown again.

/** @jsxImportSource preact */

import { showHidden } from "../../domain/values/text.ts";
import type { Alert } from "../../db/tables/webhooks.ts";
import {
  type AlertEndpoint,
  listAlertEndpoints,
  listRecentAlerts,
} from "../../db/webhooks/alerts.ts";
import { mayAct } from "../../domain/administrators/administrators.ts";
import {
  CHAT_FORM,
  isChat,
  isTelegramToken,
  publicAlertEndpoint,
  TOKEN_FORM,
} from "../../domain/alerts/alert-endpoints.ts";
import { parseWebhookUrl, WEBHOOK_URL_LIMIT } from "../../domain/webhooks/webhook-urls.ts";
import { newSecret } from "../../webhooks/secrets.ts";
import type { Call, Submission } from "../server/call.ts";
import type { Redirect, View } from "../../web/server/results.ts";
import { Field, Fold, Form } from "../../web/components/fields.tsx";
import type { Form as Values } from "../../web/server/form.ts";
import { List } from "../../web/components/lists.tsx";
import { Badge, Sentence, Time, Typed } from "../../web/components/shown.tsx";
import { shownOnce } from "../../web/components/shown-once.tsx";

const RECENT = 50;

export async function alertsPage(call: Call): Promise<View> {
  const { alerts, endpoints } = await call.read((reader) => ({
    alerts: listRecentAlerts(reader, RECENT),
    endpoints: listAlertEndpoints(reader),
  }));
  const mayChange = mayAct(call.visitor.administrator.role, "owner");
  return {
    title: "Alerts",
    body: (
      <>
        <h1>Alerts</h1>
        <section id="alerts" data-refresh>
          <h2>Open and past alerts</h2>
          {alerts.some(({ resolvedAt }) => resolvedAt === null) && (
            <p>
              <a href="/">Today</a> leads to the pages that resolve the open ones.
            </p>
          )}
          <Alerts alerts={alerts} />
        </section>
        <h2 id="endpoints">Where alerts are sent</h2>
        <Endpoints endpoints={endpoints} mayChange={mayChange} />
        {mayChange && (
          <>
            <Fold action="/alerts" summary="Send alerts to a URL or to Telegram">
              <Form action="/alerts" submit="Send alerts">
                <Field
                  name="url"
                  label="Address"
                  type="url"
                  hint="http or https, in any network; signed with a secret that is shown once"
                />
                <p>Or a Telegram chat:</p>
                <Field name="chat" label="Chat" hint={CHAT_FORM} />
                <Field
                  name="token"
                  label="Bot token"
                  type="password"
                  hint="stored, and never shown again"
                />
              </Form>
            </Fold>
          </>
        )}
      </>
    ),
  };
}

function Alerts({ alerts }: { alerts: readonly Alert[] }) {
  return (
    <List
      caption="Alerts, newest first"
      rows={alerts}
      empty="Nothing yet."
      columns={[
        {
          heading: "State",
          cell: ({ resolvedAt }) =>
            resolvedAt === null ? (
              <Badge state="open" tone="bad" />
            ) : (
              <Badge state="over" tone="good" />
            ),
        },
        { heading: "Problem", cell: ({ message }) => <Problem message={message} /> },
        { heading: "Kind", cell: ({ kind }) => kind.replaceAll("_", " ") },
        { heading: "Began (UTC)", cell: ({ raisedAt }) => <Time at={raisedAt} /> },
        { heading: "Ended (UTC)", cell: ({ resolvedAt }) => <Time at={resolvedAt} /> },
      ]}
    />
  );
}

/** What an alert said, without the commands that it advised. */
function Problem({ message }: Pick<Alert, "message">) {
  return (
    <bdi class="typed">
      <Sentence text={showHidden(message.replace(/: [^:`]*`.*$/s, ""))} />
    </bdi>
  );
}

function Endpoints({
  endpoints,
  mayChange,
}: {
  endpoints: readonly AlertEndpoint[];
  mayChange: boolean;
}) {
  const rows = endpoints.map((endpoint) => ({
    ...publicAlertEndpoint(endpoint),
    since: endpoint.failingSince,
    made: endpoint.createdAt,
  }));
  return (
    <List
      caption="Where alerts are sent, oldest first"
      rows={rows}
      empty="No alert endpoints yet."
      columns={[
        { heading: "By", cell: ({ channel }) => (channel === "url" ? "URL" : "Telegram") },
        { heading: "Where", cell: ({ target }) => <Typed text={target} /> },
        { heading: "Failures since the last success", number: true, cell: (row) => row.failures },
        { heading: "Failing since (UTC)", cell: ({ since }) => <Time at={since} /> },
        { heading: "Created (UTC)", cell: ({ made }) => <Time at={made} /> },
        ...(mayChange
          ? [
              {
                heading: "Change",
                cell: ({ id, target }: (typeof rows)[number]) => (
                  <div class="inline">
                    <Form action={`/alerts/${id}/test`}>
                      <button aria-label={`Test: ${target}`}>Test</button>
                    </Form>
                    <Form action={`/alerts/${id}/delete`}>
                      <button class="danger" aria-label={`Delete: ${target}`}>
                        Delete
                      </button>
                    </Form>
                  </div>
                ),
              },
            ]
          : []),
      ]}
    />
  );
}

export async function createAlertEndpoint(submission: Submission): Promise<View | Redirect> {
  const { form } = submission;
  if (form.raw("url") === "") return createChat(submission);
  const target = { url: urlOf(form) };
  const secret = newSecret();
  await submission.submit("createAlertEndpoint", { target, secret });
  return shownOnce(secret, "Secret of the alerts to this address", "/alerts");
}

async function createChat(submission: Submission): Promise<Redirect> {
  const { form } = submission;
  const telegramChat = form.raw("chat");
  const secret = form.raw("token");
  if (telegramChat === "") form.addError("url", "url or chat is required");
  else if (!isChat(telegramChat)) form.refuse("chat", CHAT_FORM);
  if (telegramChat !== "" && !isTelegramToken(secret)) form.refuse("token", TOKEN_FORM);
  const target = { telegramChat };
  await submission.submit("createAlertEndpoint", { target, secret });
  return { to: "/alerts#endpoints", note: "Alerts are sent to that chat from now on: test it." };
}

function urlOf(form: Values): string {
  const given = form.text("url", WEBHOOK_URL_LIMIT);
  if (form.raw("chat") !== "" || form.raw("token") !== "") {
    form.addError("chat", "Give an address or a chat, not both");
  }
  const parsed = parseWebhookUrl(given, true);
  if ("url" in parsed) return parsed.url;
  form.refuse("url", parsed.must);
  return "";
}

export async function testAlertEndpoint(submission: Submission): Promise<Redirect> {
  await submission.submit("testAlertEndpoint", { id: submission.params["endpoint"]! });
  return { to: "/alerts#endpoints", note: "A test alert is being sent." };
}

export async function deleteAlertEndpoint(submission: Submission): Promise<Redirect> {
  await submission.submit("deleteAlertEndpoint", { id: submission.params["endpoint"]! });
  return { to: "/alerts#endpoints", note: "No more alerts are sent there." };
}
