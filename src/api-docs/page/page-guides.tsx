// The parts of the documentation page other than the endpoints: quick start, guides and errors.

/** @jsxImportSource preact */

import curlSample from "../../../docs/samples/order.sh" with { type: "text" };
import jsSample from "../../../docs/samples/order.js" with { type: "text" };
import phpSample from "../../../docs/samples/order.php" with { type: "text" };
import pythonSample from "../../../docs/samples/order.py" with { type: "text" };
import { KEY_FORM } from "../../domain/values/idempotency.ts";
import { meaningOf, ORDER_STATUSES, transitionsFrom } from "../../domain/orders/order-statuses.ts";
import type { OpenApiOperation } from "../schemas/document.ts";
import { IDEMPOTENCY_KEY } from "../schemas/examples.ts";
import { Code, Prose, Table, Tabs } from "./parts.tsx";
import { TYPE_ROWS } from "../schemas/order-fields-by-type.ts";
import { type DocumentedError, errorsOf, ErrorTable } from "./page-endpoints.tsx";

/** The form in which a reader enters a key for the calls of a page. */
export function OwnKey() {
  return (
    <form id="own" class="own" autocomplete="off">
      <label for="key">Your API key</label>
      <div class="row">
        <input
          id="key"
          type="password"
          spellcheck={false}
          autocapitalize="none"
          autocomplete="off"
          placeholder="rk_…"
        />
        <button type="button" id="reveal" aria-controls="key" aria-pressed="false">
          Show
        </button>
        <button type="submit">Check it</button>
      </div>
      <p>
        It is filled into the calls on this page. It stays in this page's memory only, until you
        leave.
      </p>
      <output id="checked" for="key"></output>
    </form>
  );
}

export function QuickStart() {
  const call = (path: string) =>
    `curl -H 'x-api-key: RESELLER_KEY_HERE' RESELLER_URL_HERE/api/v1${path}`;
  return (
    <section>
      <h2 id="quick-start">Quick start</h2>
      <OwnKey />
      <p>See what you can order:</p>
      <Code text={call("/services")} label="List services" />
      <p>Place an order. The Idempotency-Key makes it safe to send again if no answer arrives:</p>
      <Code
        text={`curl -H 'x-api-key: RESELLER_KEY_HERE' \\
  -H 'Content-Type: application/json' \\
  -H 'Idempotency-Key: ${IDEMPOTENCY_KEY}' \\
  -d '{"service":"instagram-followers","link":"https://example.com/me","quantity":1000}' \\
  RESELLER_URL_HERE/api/v1/orders`}
        label="Place an order"
      />
      <p>
        Read the order by the <code>orderId</code> of the answer, then your balance:
      </p>
      <Code text={`${call("/orders/1")}\n${call("/balance")}`} label="Follow it" />
    </section>
  );
}

export function Guides() {
  return (
    <>
      <section>
        <h2 id="keys">Keys</h2>
        <p>
          <Prose text="Every call carries the header `x-api-key`. Your operator makes the keys; a key can be deactivated at any moment. Keep your key on your server, never in a page or an app." />
        </p>
        <Table
          headings={["Key type", "May"]}
          rows={[
            [
              <>Order Key</>,
              <>
                list services, place and read orders, read the balance and the statement, manage
                webhooks
              </>,
            ],
            [
              <>Recharge Key</>,
              <>
                look up users, add credit: all users or child users only, up to the limits of the
                key
              </>,
            ],
            [<>Full Access</>, <>everything above</>],
          ]}
        />
      </section>
      <section>
        <h2 id="amounts">Amounts and times</h2>
        <p>
          <Prose text="Amounts are JSON numbers in USD with at most six decimals, exact to the last. A price is for 1000 units unless your operator says otherwise; a charge is `price × quantity ÷ 1000`, rounded up to a millionth of a dollar. Times are ISO 8601 in UTC." />
        </p>
        <p>
          <Prose text="Every answer carries `x-request-id`: yours if you sent one, otherwise ours. Give it when you ask your operator about a call." />
        </p>
      </section>
      <section>
        <h2 id="types">Types of services</h2>
        <p>
          <Prose text="The type of a service, which `GET /services?fields=all` shows, says what an order needs besides `service` and `link`. Lines are separated by line breaks, and empty lines do not count. If the lines are the quantity, their number must be between `min` and `max`. `runs` repeats an order of a service with a drip-feed every `interval` minutes, and the charge is for all runs." />
        </p>
        <Table
          headings={["Type", "Fields", "Charged"]}
          rows={TYPE_ROWS.map(({ type, fields, charged }) => [
            <code>{type}</code>,
            <>{fields.join(", ") || "–"}</>,
            <>{charged}</>,
          ])}
        />
      </section>
      <section>
        <h2 id="idempotency">Retrying safely</h2>
        <p>
          <Prose
            text={`Give every order, recharge and request an \`Idempotency-Key\`: ${KEY_FORM}, new for every new call, the same for each retry, such as a UUID or your own order number.`}
          />
        </p>
        <ul>
          <li>
            <Prose text="The same key with the same request has no second effect. It gets the first answer, byte for byte, and the header `Idempotent-Replayed: true`." />
          </li>
          <li>
            <Prose text="The same key with another request is a 422 `idempotency_key_reused`." />
          </li>
          <li>
            <Prose text="A refusal that changed nothing is not stored: correct the request and send it again with the same `Idempotency-Key`." />
          </li>
          <li>
            <Prose text="Keys are kept for at least 24 hours and survive restarts." />
          </li>
          <li>
            <Prose text="If you get no answer, a 429, a 500 or a 503, wait (for `Retry-After` seconds, if given) and send the same request with the same `Idempotency-Key`." />
          </li>
          <li>
            <Prose text="Anything but a JSON object with a `status` of `success` or `error` (the user lookup has `exists`) counts as no answer, such as an empty 502 or a page of a proxy. Your request may have arrived." />
          </li>
          <li>
            <Prose text="Store the key with your order until you have an answer, so that it survives a crash of your program. A 401 or 403 does not show whether an earlier try had an effect." />
          </li>
        </ul>
        <p>
          <Prose text="A `reference` of your own protects without a time limit: an order with a reference that you used before is a 409 `reference_taken`, with the earlier order." />
        </p>
      </section>
      <section>
        <h2 id="lists">Lists</h2>
        <p>
          <Prose text="Lists are newest first. If `nextCursor` is not null, there is more: give it as `cursor`, with the same filters, to read on. Cursors do not expire. Entries added while you read do not shift the pages: no entry is missing or listed twice. `from` and `to` are both included; a date without a time is the whole day in UTC." />
        </p>
      </section>
      <section>
        <h2 id="states">Order states</h2>
        <p>
          An order begins as PENDING when a provider delivers it, as PROCESSING when your operator
          does. A refund goes to your balance in the same moment as the change of state. A COMPLETED
          order becomes PARTIAL in one case: its provider reports later that a part was not
          delivered, and your operator accepts that.
        </p>
        <Table
          headings={["State", "Meaning", "Can become"]}
          rows={ORDER_STATUSES.map((status) => [
            <code>{status}</code>,
            <>{meaningOf(status)}</>,
            <>{transitionsFrom(status).join(", ") || "final"}</>,
          ])}
        />
      </section>
    </>
  );
}

/** Lists every error of all endpoints once. */
export function Errors({ operations }: { operations: readonly OpenApiOperation[] }) {
  const statuses = [...new Set(operations.flatMap(({ responses }) => Object.keys(responses)))];
  const errors = new Map<string, DocumentedError>();
  for (const status of statuses.toSorted()) {
    for (const { responses } of operations) {
      if (!responses[status]) continue;
      for (const error of errorsOf({ [status]: responses[status] })) {
        errors.set(JSON.stringify(error), error);
      }
    }
  }
  return (
    <section>
      <h2 id="errors">Errors</h2>
      <p>
        <Prose text="Programs should check `code`, which never changes. `message` is for people, `field` names the wrong field, filter or header, and `requestId` is the header `x-request-id`." />
      </p>
      <Code
        text={`{
  "status": "error",
  "message": "Insufficient balance",
  "code": "insufficient_balance",
  "requestId": "5f0c2a1e-8a31-4d3e-9d54-3f1b2f6f6a10"
}`}
        label="400"
      />
      <ErrorTable message="Message, for example" errors={[...errors.values(), ...UNROUTED]} />
    </section>
  );
}

/** Errors of requests that reach no endpoint. */
const UNROUTED: readonly DocumentedError[] = [
  { code: "not_found", status: "404", message: "Not found" },
  { code: "method_not_allowed", status: "405", message: "Method not allowed" },
  { code: "request_malformed", status: "400", message: "Malformed request" },
  { code: "headers_too_large", status: "431", message: "Request headers too large" },
  { code: "http_version_unsupported", status: "505", message: "HTTP version not supported" },
];

export function Samples() {
  return (
    <section>
      <h2 id="samples">Samples</h2>
      <p>
        Each sample places one order and sends it again until an answer arrives, and keeps the
        request in a file as long. If it gave up or was stopped, run it again. The samples read the
        address and the key from the environment:
      </p>
      <Code
        text="export RESELLER_URL=RESELLER_URL_HERE RESELLER_KEY=RESELLER_KEY_HERE"
        label="Environment"
      />
      <Tabs
        name="sample"
        panels={[
          ["curl", "order.sh", curlSample],
          ["JavaScript", "order.js", jsSample],
          ["Python", "order.py", pythonSample],
          ["PHP", "order.php", phpSample],
        ]}
      />
    </section>
  );
}
