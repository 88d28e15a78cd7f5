// The page of the guide about limits: which apply to a key, how they are shown, and the sizes of requests.

/** @jsxImportSource preact */

import {
  BATCH_LIMIT,
  BODY_LIMIT_TEXT,
  IDS_LIMIT,
  PAGE_DEFAULT,
  PAGE_LIMIT,
  WEBHOOKS_LIMIT,
} from "../../domain/values/limits.ts";
import { type LimitName, policyItem, rateItem } from "../../domain/values/rate-fields.ts";
import { LINK_LENGTH_LIMIT, REFERENCE_LENGTH_LIMIT } from "../../domain/orders/orders.ts";
import { Code, Prose, Table } from "../page/parts.tsx";
import type { GuidePage } from "./guide.ts";

const POLICY = [
  policyItem("requests", 200, { seconds: 2 }),
  policyItem("orders-per-minute", 60, { seconds: 60, unit: "orders" }),
  policyItem("spend-per-day", 500_000_000, { seconds: 86_400, unit: "micro-usd" }),
];

/** What each limit counts, and what to do when it is reached. */
const LIMITS: Record<LimitName, readonly [counts: string, next: string]> = {
  requests: [
    "Requests of your key. `q` is also the largest burst.",
    "429: wait `Retry-After` seconds.",
  ],
  "unknown-keys": ["Requests of your address with keys that do not exist.", "429: check the key."],
  "orders-per-minute": ["Orders since the minute began.", "429: wait `Retry-After` seconds."],
  "spend-per-day": [
    "Charges less refunds since midnight UTC, in millionths of a dollar.",
    "429: wait until `endsAt`, or ask your operator.",
  ],
  "spend-per-month": [
    "Charges less refunds since the month began, in UTC, in millionths of a dollar.",
    "429: wait until `endsAt`, or ask your operator.",
  ],
  "open-orders": [
    "Orders that are PENDING or PROCESSING.",
    "403: place more when some have ended.",
  ],
};

function Rates() {
  return (
    <>
      <p>
        <Prose text="Every answer to a key with limits says which apply to it. `RateLimit-Policy` lists them all: `q` is the quota, `w` its time in seconds, `qu` its unit. `RateLimit` says what is left of your requests: `r` requests now, and all of them again in `t` seconds." />
      </p>
      <Code
        text={`RateLimit-Policy: ${POLICY.join(",\n  ")}\nRateLimit: ${rateItem("requests", 199, 1)}`}
        label="Headers of an answer"
      />
      <Table
        headings={["Limit", "Counts", "When it is reached"]}
        rows={Object.entries(LIMITS).map(([name, texts]) => [
          <code>{name}</code>,
          ...texts.map((text) => <Prose text={text} />),
        ])}
      />
      <p>
        <Prose text="A refusal by a limit changes nothing and names the limit in its member `limit`. A [batch of orders](/docs/reference/place-orders) or a list is one request." />
      </p>
    </>
  );
}

const SIZES: readonly (readonly [what: string, limit: string])[] = [
  ["Body of a request", BODY_LIMIT_TEXT],
  ["Orders in one batch", String(BATCH_LIMIT)],
  ["Entries in a page of a list", `${PAGE_LIMIT}; ${PAGE_DEFAULT} unless you give \`limit\``],
  ["Orders read at once by `ids`", String(IDS_LIMIT)],
  ["Webhooks", String(WEBHOOKS_LIMIT)],
  ["`link`", `${LINK_LENGTH_LIMIT} characters`],
  ["`reference`", `${REFERENCE_LENGTH_LIMIT} characters`],
];

function Sizes() {
  return (
    <Table
      headings={["What", "At most"]}
      rows={SIZES.map((row) => row.map((text) => <Prose text={text} />))}
    />
  );
}

export const LIMITS_PAGE: GuidePage = {
  path: "/docs/limits",
  title: "Limits",
  lead: "How much your key may do, and how answers show it.",
  sections: [
    {
      id: "limits",
      title: "Limits of your key",
      about: `RateLimit, RateLimit-Policy, Retry-After, 429: ${Object.keys(LIMITS).join(", ")}`,
      Body: Rates,
    },
    {
      id: "sizes",
      title: "Sizes",
      about: "Largest body, batch, page of a list, number of webhooks",
      Body: Sizes,
    },
  ],
};
