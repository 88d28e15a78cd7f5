// The page for programs that take payments: looking up users and adding credit. The pages for customers do not show it.

/** @jsxImportSource preact */

import { EndpointArticle } from "../page/endpoint.tsx";
import { endpointsOf, PAYMENT_PATH, paymentEndpointsOf } from "../page/documented-endpoints.ts";
import { Prose, Table } from "../page/parts.tsx";
import type { OpenApiDocument } from "../schemas/document.ts";
import type { GuidePage } from "./guide.ts";

const KEYS: readonly (readonly [type: string, may: string])[] = [
  ["Recharge Key", "look up users and add credit; it cannot order"],
  ["Full Access", "that, and everything that an Order Key may do"],
];

function Keys() {
  return (
    <>
      <p>
        <Prose text="Take a Recharge Key for a program that only adds credit. Its reach is fixed when it is made: all users, or only the child users of its reseller. It can have a limit for one recharge and for a day in UTC; a recharge above it is a 403 and changes nothing." />
      </p>
      <Table headings={["Key", "May"]} rows={KEYS.map((row) => [...row])} />
    </>
  );
}

function Crediting() {
  return (
    <>
      <ol>
        <li>
          <Prose text="Wait until the payment is confirmed: credit cannot be taken back by this API." />
        </li>
        <li>
          <Prose text="[Add credit](#recharge) with an `Idempotency-Key` made from the payment's own id. Then a payment that is reported twice is credited once." />
        </li>
        <li>
          <Prose text="Without an answer, send the same request again with the same `Idempotency-Key`: see [Retrying safely](/docs/errors#idempotency). Keys are kept for at least 24 hours. Record in your own database which payments are credited." />
        </li>
      </ol>
      <p>
        <Prose text="The example makes a new `Idempotency-Key` each time, which credits each time it is run. A test key credits test balances only." />
      </p>
    </>
  );
}

function Calls({ document }: { document: OpenApiDocument }) {
  return (
    <>
      {paymentEndpointsOf(document).map((endpoint) => (
        <>
          <h2 id={endpoint.operation.operationId}>{endpoint.operation.summary}</h2>
          <EndpointArticle
            document={document}
            endpoint={endpoint}
            shared={endpointsOf(document)}
            level="h3"
          />
        </>
      ))}
      <p>
        <Prose text="An answer to a look-up has `exists` and no `status` when it is a success." />
      </p>
    </>
  );
}

export const PAYMENTS: GuidePage = {
  path: PAYMENT_PATH,
  title: "For payment programs",
  lead: "Look up users and add credit, with a Recharge Key or Full Access.",
  sections: [
    { id: "payment-keys", title: "Keys", about: "Recharge Key, Full Access, reach", Body: Keys },
    { id: "crediting", title: "Crediting a payment", about: "Idempotency-Key", Body: Crediting },
    { id: "users", title: "Calls", about: "Look up a user, add credit", Body: Calls },
  ],
};
