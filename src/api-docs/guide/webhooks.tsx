// The page of the guide about webhooks: what is sent, how to verify it, and how to respond.

/** @jsxImportSource preact */

import jsSample from "../../../docs/samples/webhook.mjs" with { type: "text" };
import phpSample from "../../../docs/samples/webhook.php" with { type: "text" };
import pythonSample from "../../../docs/samples/webhook.py" with { type: "text" };
import { WEBHOOK_ATTEMPTS, WEBHOOK_STEPS_MS } from "../../domain/webhooks/webhook-schedule.ts";
import { formatDuration } from "../../domain/values/units.ts";
import type { OpenApiDocument } from "../schemas/document.ts";
import { LANGUAGES } from "../code/languages.ts";
import { Fields } from "../page/fields.tsx";
import { Code, Json, Prose, Table, Tabs } from "../page/parts.tsx";
import type { GuidePage } from "./guide.ts";

const REQUEST = `POST /hook HTTP/1.1
content-type: application/json
user-agent: reseller-webhooks/1
webhook-id: evt_w6xw0c6k8v1n4q2z7m5t3b9a
webhook-timestamp: 1795222171
webhook-signature: v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=

{"type":"order.completed","timestamp":"2026-11-21T00:49:31.840Z","data":{…}}`;

function Receiving() {
  return (
    <>
      <p>
        <Prose text="Receive changes instead of polling your orders: [register](/docs/reference/create-webhook) an https address and keep the `secret` of the answer, which is shown once. Each event is one `POST` in the form of Standard Webhooks 1.0.0, so its libraries can verify it:" />
      </p>
      <Code text={REQUEST} label="An event" />
      <Table
        headings={["Part", "Meaning"]}
        rows={PARTS.map(([part, meaning]) => [<code>{part}</code>, <Prose text={meaning} />])}
      />
      <ul>
        <li>
          <Prose text="Verify the bytes of the body before you parse them, and compare signatures in constant time." />
        </li>
        <li>
          <Prose text="Answer with a 2xx within 15 seconds: store the event, then do the work. A redirect is not followed and counts as a failure, like any other status." />
        </li>
        <li>
          <Prose text="Events are delivered at least once, in any order. `GET /orders` always has the current state: read it after your receiver was down." />
        </li>
        <li>
          <Prose text="Your address must be public: a name that resolves to a private or otherwise special address is refused." />
        </li>
      </ul>
    </>
  );
}

const PARTS: readonly (readonly [part: string, meaning: string])[] = [
  [
    "webhook-id",
    "The event's id, the same for each attempt. Ignore an id that you have seen before.",
  ],
  [
    "webhook-timestamp",
    "The time of this attempt, in Unix seconds. Refuse an attempt older than five minutes.",
  ],
  [
    "webhook-signature",
    "`v1,` and the base64 of the HMAC-SHA256 of `webhook-id.webhook-timestamp.body`. The HMAC's key is what follows `whsec_` in the secret, decoded from base64. While a secret is being replaced there are two signatures with a space between: one has to match.",
  ],
  [
    "sequence",
    "Grows with each event of an order, with gaps for events that you did not ask for. Events may arrive out of order and more than once: ignore one that is not above the last you handled of that order.",
  ],
];

function Attempts() {
  const steps = WEBHOOK_STEPS_MS.map(formatDuration).join(", ");
  return (
    <>
      <p>
        <Prose
          text={`An event is tried up to ${WEBHOOK_ATTEMPTS} times: at once, and again after each failure. The pauses are ${steps}, each up to a fifth shorter or longer. \`Retry-After\` is honoured up to twice the pause.`}
        />
      </p>
      <p>
        <Prose text="A `410 Gone` disables your endpoint at once; so do five days with only failures. [List the deliveries](/docs/reference/list-deliveries) to see each attempt with its status or a word for what failed, and [send again](/docs/reference/replay-webhook) the events that you missed." />
      </p>
      <Table
        headings={["Word", "What failed"]}
        rows={FAILURES.map(([word, meaning]) => [<code>{word}</code>, <Prose text={meaning} />])}
      />
    </>
  );
}

/** By id of the language. */
const RECEIVERS: Readonly<Record<string, readonly [file: string, text: string]>> = {
  js: ["webhook.mjs", jsSample],
  python: ["webhook.py", pythonSample],
  php: ["webhook.php", phpSample],
};

function Samples() {
  return (
    <>
      <p>
        Each receiver reads the secret and the port from the environment, verifies each event and
        prints it:
      </p>
      <Code text="export WEBHOOK_SECRET='whsec_…' PORT=8000" label="Terminal" syntax="shell" />
      <Tabs
        name="webhook-sample"
        panels={LANGUAGES.filter(({ id }) => id in RECEIVERS).map(({ id, name, syntax }) => {
          const [label, text] = RECEIVERS[id]!;
          return { id, name, label, syntax, text };
        })}
      />
    </>
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
        An event is sent if your endpoint's <code>events</code> name it, or are <code>*</code>.
      </p>
      <Table
        headings={["Event", "Sent when"]}
        rows={events.map(({ type, when }) => [<code>{type}</code>, <Prose text={when} />])}
      />
      {forms.map((form) => {
        const [{ type, schema, body }, ...others] = form as [(typeof events)[number]];
        const about = others.length === 0 ? type : `${type.split(".")[0]!} events`;
        return (
          <details>
            <summary>Body of {about}</summary>
            <Json value={body} label={type} />
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

export const WEBHOOKS: GuidePage = {
  path: "/docs/webhooks",
  title: "Webhooks",
  lead: "Receive each change of an order, your balance or a service.",
  sections: [
    {
      id: "receiving-webhooks",
      title: "Receiving webhooks",
      about: "webhook-id, webhook-timestamp, webhook-signature, HMAC, verify, sequence, secret",
      Body: Receiving,
    },
    {
      id: "events",
      title: "Events",
      about: "Every type of event, when it is sent, and its body",
      Body: Events,
    },
    {
      id: "attempts",
      title: "Attempts",
      about: "Retries, pauses, disabled endpoints, what failed",
      Body: Attempts,
    },
    {
      id: "webhook-samples",
      title: "Sample receivers",
      about: "Receivers in JavaScript, Python and PHP",
      Body: Samples,
    },
  ],
};
