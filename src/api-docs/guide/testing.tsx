// The page of the guide about test keys: what they share with live keys, and links that request an outcome.

/** @jsxImportSource preact */

import { Prose, Table } from "../page/parts.tsx";
import type { GuidePage } from "./guide.ts";

const LINKS: readonly (readonly [link: string, outcome: string])[] = [
  ["/complete, /complete/60s", "COMPLETED within a second, or after that time (1 s to 24 h)"],
  ["/partial/157", "PARTIAL with `remains` 157 after 5 s"],
  ["/cancel, /fail", "CANCELLED, FAILED after 5 s, refunded"],
  ["/refuse", "502, the order FAILED, refunded"],
  ["/pending", "stays PENDING until your operator settles it"],
  ["/cancel/decline, /cancel/unknown", "a request to cancel is declined, or stays `sent`"],
  ["/cancel/late", "a request to cancel is accepted, but the order is COMPLETED"],
  [
    "/refill/decline, /refill/unknown",
    "COMPLETED within a second; a refill is declined, or stays `sent`",
  ],
  ["/refill/reject", "COMPLETED within a second; a refill is accepted, then declined after 5 s"],
  [
    "/pending/complete, /pending/cancel",
    "200 PENDING, PROCESSING after 2 s, COMPLETED or CANCELLED after 5 s",
  ],
  ["/funds", "400 `Insufficient balance`, whatever the balance is"],
  ["/slow/8s", "the answer takes that long, up to the longest that the server waits"],
  ["/429, /503, /500", "that status; nothing is changed"],
  ["/lost", "the order is placed, and the connection is closed without an answer: send it again"],
];

function TestKeys() {
  return (
    <>
      <p>
        <Prose text="Ask your operator for a test key: it begins with `rk_test_`. With it every call works as with any other key, with the same catalogue and prices, but it uses test money, 1,000 USD at first, and nothing is delivered. Every answer to a test key carries `X-Test-Mode: true`. Test keys never see live orders, and live keys never see test orders." />
      </p>
      <p>
        <Prose text="A test order is PROCESSING at once, its `remains` falls, and it is COMPLETED after 30 s. [Change its status](/docs/reference/move-test-order) at once, or ask for an outcome by its link." />
      </p>
      <p>
        <Prose text="[Send a test webhook](/docs/reference/send-test-event) to try your receiver. The bodies of test events have `test: true`, and each is tried three times." />
      </p>
    </>
  );
}

function MagicLinks() {
  return (
    <>
      <p>
        <Prose text="A `link` that begins with `https://test.invalid` asks for an outcome:" />
      </p>
      <Table
        headings={["Link", "Outcome"]}
        rows={LINKS.map(([link, outcome]) => [<code>{link}</code>, <Prose text={outcome} />])}
      />
      <p>
        <Prose text="Any other link to `test.invalid` is a 400, because it may be mistyped." />
      </p>
    </>
  );
}

export const TESTING: GuidePage = {
  path: "/docs/testing",
  title: "Test mode",
  lead: "Try everything, failures too, without money and without a delivery.",
  sections: [
    {
      id: "test-keys",
      title: "Test keys",
      about: "rk_test_, sandbox, test money, X-Test-Mode",
      Body: TestKeys,
    },
    {
      id: "test-links",
      title: "Links that ask for an outcome",
      about:
        "https://test.invalid: complete, partial, cancel, fail, refuse, pending, slow, lost, 429, 500, 503",
      Body: MagicLinks,
    },
  ],
};
