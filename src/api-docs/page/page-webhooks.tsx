// The part of the documentation page about webhooks: what is sent, how to verify it, and how to respond.

/** @jsxImportSource preact */

import jsSample from "../../../docs/samples/webhook.js" with { type: "text" };
import phpSample from "../../../docs/samples/webhook.php" with { type: "text" };
import pythonSample from "../../../docs/samples/webhook.py" with { type: "text" };
import { WEBHOOK_ATTEMPTS, WEBHOOK_STEPS_MS } from "../../domain/webhooks/webhook-schedule.ts";
import { formatDuration } from "../../domain/values/units.ts";
import type { OpenApiDocument } from "../schemas/document.ts";
import { Code, Prose, Table, Tabs } from "./parts.tsx";
import { Fields } from "./page-endpoints.tsx";

const REQUEST = `POST /hook HTTP/1.1
content-type: application/json
user-agent: reseller-webhooks/1
webhook-id: evt_w6xw0c6k8v1n4q2z7m5t3b9a
webhook-timestamp: 1795222171
webhook-signature: v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=

{"type":"order.completed","timestamp":"2026-11-21T00:49:31.840Z","data":{…}}`;

export function Webhooks({ document }: { document: OpenApiDocument }) {
  const steps = WEBHOOK_STEPS_MS.map(formatDuration).join(", ");
  return (
    <section>
      <h2 id="receiving-webhooks">Receiving webhooks</h2>
      <p>
        <Prose text="Instead of polling your orders, have changes sent to you: register an https address with `POST /webhooks` and keep the `secret` of the answer, which is shown once. Each event is one `POST` in the form of Standard Webhooks 1.0.0, so its libraries can verify it:" />
      </p>
      <Code text={REQUEST} label="An event" />
      <Table
        headings={["Part", "Meaning"]}
        rows={[
          [
            <code>webhook-id</code>,
            <>
              <Prose text="the event's id, the same for each attempt: ignore an id that you have seen before" />
            </>,
          ],
          [
            <code>webhook-timestamp</code>,
            <>
              <Prose text="the time of this attempt, in Unix seconds: refuse an attempt older than five minutes" />
            </>,
          ],
          [
            <code>webhook-signature</code>,
            <>
              <Prose text="`v1,` and the base64 of the HMAC-SHA256 of `webhook-id.webhook-timestamp.body`; the key is what follows `whsec_` in the secret, decoded from base64. While a secret is being replaced there are two signatures with a space between: one has to match" />
            </>,
          ],
          [
            <code>sequence</code>,
            <>
              <Prose text="grows with each event of an order, with gaps for events that you did not ask for. Events may arrive out of order and more than once: ignore one that is not above the last you handled of that order" />
            </>,
          ],
        ]}
      />
      <Events document={document} />
      <ul>
        <li>
          <Prose text="Verify the bytes of the body before you parse them, and compare signatures in constant time." />
        </li>
        <li>
          <Prose text="Answer with a 2xx within 15 seconds: store the event, then do the work. A redirect is not followed and counts as a failure, like any other status." />
        </li>
        <li>
          <Prose
            text={`An event is tried up to ${WEBHOOK_ATTEMPTS} times: at once, and again after each failure. The pauses are ${steps}, each up to a fifth shorter or longer. \`Retry-After\` is honoured up to twice the pause.`}
          />
        </li>
        <li>
          <Prose text="A `410 Gone` disables your endpoint at once; so do five days with only failures. `GET /webhooks/:id/deliveries` shows each attempt with its status or a word for what failed, and `POST /webhooks/:id/replay` sends the events that you missed again." />
        </li>
        <li>
          <Prose text="Events are delivered at least once, in any order. `GET /orders` always has the current state: read it after your receiver was down." />
        </li>
        <li>
          <Prose text="Your address must be public: a name that resolves to a private or otherwise special address is refused." />
        </li>
      </ul>
      <Table
        headings={["Word", "What failed"]}
        rows={FAILURES.map(([word, meaning]) => [
          <code>{word}</code>,
          <>
            <Prose text={meaning} />
          </>,
        ])}
      />
      <p>
        Sample receivers. They read the secret and the port from the environment, verify each event
        and print it:
      </p>
      <Code text="export WEBHOOK_SECRET=whsec_… PORT=8000" label="Environment" />
      <Tabs
        name="webhook-sample"
        panels={[
          ["JavaScript", "webhook.js", jsSample],
          ["Python", "webhook.py", pythonSample],
          ["PHP", "webhook.php", phpSample],
        ]}
      />
    </section>
  );
}

/** Renders every event, and each form of body once. */
function Events({ document }: { document: OpenApiDocument }) {
  const events = Object.entries(document.webhooks).map(([type, { post }]) => {
    const { schema, examples } = post!.requestBody!.content["application/json"]!;
    return { type, when: post!.summary, schema, body: examples!["event"]!.value };
  });
  const forms = Object.values(Object.groupBy(events, ({ schema }) => JSON.stringify(schema)));
  return (
    <>
      <p>
        Events that are sent if your endpoint's <code>events</code> name them:
      </p>
      <Table
        headings={["Event", "Sent when"]}
        rows={events.map(({ type, when }) => [<code>{type}</code>, <>{when}</>])}
      />
      {forms.map((form) => {
        const [{ type, schema, body }, ...others] = form as [(typeof events)[number]];
        const about = others.length === 0 ? type : `${type.split(".")[0]!} events`;
        return (
          <details>
            <summary>Body of {about}</summary>
            <Code text={JSON.stringify(body, null, 2)} label={type} />
            <Fields document={document} schema={schema} about={`Body: ${about}`} />
          </details>
        );
      })}
    </>
  );
}

const FAILURES = [
  ["dns", "the name has no address"],
  ["blocked_address", "the name has an address that is not public"],
  ["url_not_allowed", "the operator no longer allows this kind of address, for example plain http"],
  [
    "connection",
    "no connection, it broke before the head of the reply arrived, or the reply was not HTTP",
  ],
  ["tls", "the certificate is not valid for the name"],
  ["timeout", "no reply within 15 seconds"],
  ["redirect", "a 3xx"],
  ["status", "any other status that is not 2xx, see `httpStatus`"],
] as const;
