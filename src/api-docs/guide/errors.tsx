// The page of the guide about errors: their form, what to do, retrying with an Idempotency-Key, and a list of all.

/** @jsxImportSource preact */

import { KEY_FORM } from "../../domain/values/idempotency.ts";
import {
  customerEndpointsOf,
  type DocumentedError,
  type Endpoint,
  errorsOf,
  sharedErrors,
} from "../page/documented-endpoints.ts";
import { Json, Prose, Table } from "../page/parts.tsx";
import type { OpenApiDocument } from "../schemas/document.ts";
import { REQUEST_ID } from "../schemas/examples.ts";
import type { GuidePage } from "./guide.ts";

const EXAMPLE = {
  status: "error",
  message: "Insufficient balance",
  code: "insufficient_balance",
  requestId: REQUEST_ID,
};

function Form() {
  return (
    <>
      <p>
        <Prose text="Programs should check `code`, which never changes. `message` is for people. `field` names the wrong field, filter or header, `limit` the limit that was reached. `requestId` is also the header `x-request-id`: give it when you ask your operator." />
      </p>
      <Json value={EXAMPLE} label="400" />
    </>
  );
}

const STEPS: readonly (readonly [status: string, happened: string, next: string])[] = [
  ["400, 401, 403, 404, 409, 413, 415, 422", "Nothing was changed.", "Correct the request."],
  [
    "429, 503",
    "Nothing was changed.",
    "Wait `Retry-After` seconds, then send it again with the same `Idempotency-Key`.",
  ],
  [
    "502 `provider_refused`",
    "The order was created, failed and was refunded.",
    "Try later, as a new order with a new `Idempotency-Key`.",
  ],
  [
    "500, no answer",
    "Not known: the request may have had its effect.",
    "Send it again with the same `Idempotency-Key` until you get another answer.",
  ],
];

function WhatToDo() {
  return (
    <>
      <Table
        headings={["Answer", "What happened", "What to do"]}
        rows={STEPS.map((row) => row.map((text) => <Prose text={text} />))}
      />
      <p>
        <Prose text="Anything but a JSON object with a `status` of `success` or `error` counts as no answer, such as an empty 502 or a page of a proxy." />
      </p>
    </>
  );
}

function Idempotency() {
  return (
    <>
      <p>
        <Prose
          text={`A connection can break after your order was placed and before you read the answer. Give every order and request an \`Idempotency-Key\`, and you can send it again without ordering twice. A key is ${KEY_FORM}, such as a UUID: new for every new call, the same for each retry.`}
        />
      </p>
      <ol>
        <li>
          <Prose text="Make a key and store it with your order, before the first try. It must survive a crash of your program." />
        </li>
        <li>
          <Prose text="Send the request. If you get no answer, a 429, a 500 or a 503, wait and send the same request with the same key." />
        </li>
        <li>
          <Prose text="Delete the key when you have an answer. Keep it after a 401 or 403: they do not show whether an earlier try had an effect." />
        </li>
      </ol>
      <ul>
        <li>
          <Prose text="The same key with the same request has no second effect. It gets the first answer, byte for byte, and the header `Idempotent-Replayed: true`." />
        </li>
        <li>
          <Prose text="The same key with another request is a 422 `idempotency_key_reused`." />
        </li>
        <li>
          <Prose text="A refusal that changed nothing is not stored: correct the request and send it again with the same key." />
        </li>
        <li>
          <Prose text="Keys are kept for at least 24 hours and survive restarts." />
        </li>
      </ul>
      <p>
        <Prose text="A `reference` of your own protects without a time limit: an order with a reference that you used before is a 409 `reference_taken`, with the earlier order." />
      </p>
      <p>
        <Prose text="The [sample programs](/docs/samples) do all of this." />
      </p>
    </>
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

export interface ErrorEntry extends DocumentedError {
  /** The endpoints that have it; null: any. */
  endpoints: readonly Endpoint[] | null;
}

/** Returns every error of a customer's endpoints once, by status. */
export function errorEntriesOf(document: OpenApiDocument): ErrorEntry[] {
  const endpoints = customerEndpointsOf(document);
  const withBody = endpoints.filter(({ operation }) => operation.requestBody);
  const common = new Set(
    [...sharedErrors(endpoints), ...sharedErrors(withBody)].map((error) => JSON.stringify(error)),
  );
  const found = new Map<string, Endpoint[]>();
  for (const endpoint of endpoints) {
    for (const error of errorsOf(endpoint.operation)) {
      const key = JSON.stringify(error);
      found.set(key, [...(found.get(key) ?? []), endpoint]);
    }
  }
  const entries = [...found].map(([key, having]) => ({
    ...(JSON.parse(key) as DocumentedError),
    endpoints: common.has(key) ? null : having,
  }));
  const unrouted = UNROUTED.filter(({ code }) => !entries.some((entry) => entry.code === code));
  return [...entries, ...unrouted.map((error) => ({ ...error, endpoints: null }))].toSorted(
    (a, b) => Number(a.status) - Number(b.status) || a.code.localeCompare(b.code),
  );
}

function AllErrors({ document }: { document: OpenApiDocument }) {
  const anchored = new Set<string>();
  const rows = errorEntriesOf(document).map(({ code, status, message, endpoints }) => {
    const isFirst = !anchored.has(code);
    anchored.add(code);
    return [
      <>
        <code id={isFirst ? code : undefined}>{code}</code>
        <span class="type">{status}</span>
      </>,
      message,
      <Where endpoints={endpoints} />,
    ];
  });
  return (
    <>
      <p>Numbers and names in a message are examples.</p>
      <Table headings={["Code", "Message", "Answer to"]} rows={rows} />
    </>
  );
}

function Where({ endpoints }: { endpoints: readonly Endpoint[] | null }) {
  if (endpoints === null) return <>any call</>;
  const groups = [...new Set(endpoints.map(({ tag }) => tag))];
  if (endpoints.length > 3) return <>calls of {groups.join(", ")}</>;
  return (
    <>
      {endpoints.map(({ url, operation }, index) => (
        <>
          {index > 0 && ", "}
          <a href={url}>{operation.summary}</a>
        </>
      ))}
    </>
  );
}

export const ERRORS: GuidePage = {
  path: "/docs/errors",
  title: "Errors and retries",
  lead: "What an error says, what to do next, and how to send a request again without doing it twice.",
  sections: [
    {
      id: "error-form",
      title: "The form of an error",
      about: "code, message, field, limit, requestId",
      Body: Form,
    },
    {
      id: "what-to-do",
      title: "What to do",
      about: "Which answers to retry: 429, 500, 502, 503, no answer, Retry-After",
      Body: WhatToDo,
    },
    {
      id: "idempotency",
      title: "Retrying safely",
      about: "Idempotency-Key, Idempotent-Replayed, time-out, double orders, reference",
      Body: Idempotency,
    },
    {
      id: "errors",
      title: "All errors",
      about: "Every code with its message",
      Body: AllErrors,
    },
  ],
};
