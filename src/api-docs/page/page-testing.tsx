// The part of the documentation page about test keys: what they share with live keys, and links that request an outcome.

/** @jsxImportSource preact */

import { Prose, Table } from "./parts.tsx";

const LINKS: readonly (readonly [link: string, outcome: string])[] = [
  ["/complete, /complete/60s", "COMPLETED within a second, or after that time (1 s to 24 h)"],
  ["/partial/157", "PARTIAL with `remains` 157 after 5 s"],
  ["/cancel, /fail", "CANCELLED, FAILED after 5 s, refunded"],
  ["/refuse", "502, the order FAILED, refunded"],
  ["/pending", "stays PENDING until your operator settles it"],
  [
    "/pending/complete, /pending/cancel",
    "200 PENDING, PROCESSING after 2 s, COMPLETED or CANCELLED after 5 s",
  ],
  ["/funds", "400 `Insufficient balance`, whatever the balance is"],
  ["/slow/8s", "the answer takes that long, up to the longest that the server waits"],
  ["/429, /503, /500", "that status; nothing is changed"],
  ["/lost", "the order is placed, and the connection is closed without an answer: send it again"],
];

export function Testing() {
  return (
    <section>
      <h2 id="test-keys">Test keys</h2>
      <p>
        <Prose text="Ask your operator for a test key: it begins with `rk_test_`. With it every call on this page works as with any other key, with the same catalogue and prices, but it uses test money (1,000 USD at first; `POST /recharge` adds more), and nothing is delivered. Every answer to a test key carries `X-Test-Mode: true`. A test order is PROCESSING at once, its `remains` falls, and it is COMPLETED after 30 s. Test keys never see live orders, and live keys never see test orders." />
      </p>
      <p>
        <Prose text="A `link` that begins with `https://test.invalid` asks for another outcome:" />
      </p>
      <Table
        headings={["Link", "Outcome"]}
        rows={LINKS.map(([link, outcome]) => [
          <code>{link}</code>,
          <>
            <Prose text={outcome} />
          </>,
        ])}
      />
      <p>
        <Prose text="Any other link to `test.invalid` is a 400, because it may be mistyped." />
      </p>
      <p>
        <Prose text="`POST /test/orders/:id` changes the status of a test order at once. `POST /test/webhooks` sends one event to your test webhooks. The bodies of test events have `test: true`, and each is tried three times." />
      </p>
    </section>
  );
}
