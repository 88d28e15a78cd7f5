// The documentation page for owners of panels: what to enter where, and how the protocol works here.

/** @jsxImportSource preact */

import sample from "../../../docs/samples/panel.php" with { type: "text" };
import { typeTerms } from "../../domain/catalogue/service-types.ts";
import type { SmmOrderWord, SmmRefillWord } from "../../domain/orders/smm-words.ts";
import { Code, Prose, Table } from "./parts.tsx";
import { TYPE_ROWS } from "../schemas/order-fields-by-type.ts";
import { SMM_API_EXAMPLES } from "../endpoints/smm-api.ts";

export const SMM_API_SECTIONS = [
  ["connect", "Connect your panel"],
  ["fields", "Names in panel programs"],
  ["actions", "Actions"],
  ["statuses", "Statuses"],
  ["panel-errors", "Errors"],
  ["panel-sample", "Sample in PHP"],
] as const;

/** Each panel program's names for the two values to enter, and what else it needs. */
const CLIENT_PROGRAMS: readonly [name: string, url: string, key: string, besides: string][] = [
  ["SmartPanel and its descendants", "`URL` of the provider", "`Key`", ""],
  ["CMSNT SMMPANELV1", "`url` of the provider", "`key`", ""],
  [
    "CMSNT SHOPCLONE6",
    "`Domain`: `RESELLER_URL_HERE/`, with the slash, because it adds `api/v2` by itself",
    "API key",
    "",
  ],
  [
    "EGF SMM Panel Reseller",
    "`API URL`, for orders and for statuses",
    "a custom request parameter `key`, in both",
    'HTTP method POST; parameters `action` (`add`, `status`), `service`, `link`, `quantity`; success response `{"order":1}` with order ID key `order`; for statuses `{"charge":"","start_count":"","status":"","remains":"","currency":""}` with the keys `start_count`, `status`, `remains`',
  ],
  ["smmdoc", "`api_url`", "`api_key`", "method POST, as a form or as JSON"],
  [
    "BerkanYesilyurt/SMM-Panel",
    "`URL`",
    "`Key`",
    "actions `services`, `add`, `status`, `balance`; keys `service`, `link`, `quantity`, `order`, `orders`",
  ],
  ["smm-panel-qa-bot", "`SMM_API_URL`", "`SMM_API_KEY`", ""],
  ["Other panels", "the provider's API URL", "the provider's API key", "API version 2, POST"],
];

const ERRORS: readonly [words: string, meaning: string][] = [
  ["Invalid API key", "The key is wrong, inactive, expired, or not for orders."],
  [
    "Incorrect request",
    "The action is unknown, more than 100 orders were asked for, a field that the type of the service needs is missing or malformed, or the `reference` is not 1 to 64 characters of UTF-8.",
  ],
  ["error.incorrect_service_id", "The service is unknown, or you may not order it."],
  ["neworder.error.link", "The link is missing or malformed."],
  [
    "neworder.error.min_quantity",
    "The quantity is missing, not whole, or too small, or there are too few lines.",
  ],
  ["neworder.error.max_quantity", "The quantity is too large."],
  [
    "neworder.error.not_enough_funds",
    "Your balance is too low. Add funds and send the order again.",
  ],
  ["Too many orders in a minute", "Status 429. Send it again in the next minute."],
  ["Spend limit reached", "Status 429. Your operator limits what you spend a day or a month."],
  ["Too many open orders", "Send it again when some of your orders have ended."],
  ["Incorrect order ID", "You have no such order."],
  [
    "Order cannot be cancelled",
    "The order has ended, its service has no cancellation, or it is unknown whether the order was sent.",
  ],
  [
    "Order cannot be refilled",
    "The order is not delivered, its service has no refill, the days for a refill are over, or a refill was asked for within 24 hours.",
  ],
  ["A request is already open", "The same request for the order is still open."],
  ["Refill not found", "You have no such refill."],
  ["Too many requests", "Status 429. Nothing was changed. Send fewer requests."],
  ["Service temporarily unavailable", "Status 503. Nothing was changed. Send it again."],
  [
    "Internal server error",
    "Status 500. The action may have been done: check before you send it again.",
  ],
];

const STATUSES: Record<SmmOrderWord, string> = {
  Pending: "Charged, and not yet placed with the provider.",
  "In progress": "Being delivered; `remains` counts down.",
  Completed: "Delivered.",
  Partial: "Delivered in part: the part that `remains` was refunded, and `charge` is the rest.",
  Canceled: "Not delivered, or refunded: `remains` is the whole quantity and `charge` 0.",
};

/** Words for the states of refills. */
const REFILLS: Record<SmmRefillWord, string> = {
  Pending: "Requested.",
  "In progress": "Accepted.",
  Completed: "Done.",
  Rejected: "Declined: the order does not change.",
};

export function SmmApiGuide() {
  const rows = (entries: readonly (readonly [string, string])[]) =>
    entries.map(([word, meaning]) => [
      <code>{word}</code>,
      <>
        <Prose text={meaning} />
      </>,
    ]);
  return (
    <>
      <section>
        <h2 id="connect">Connect your panel</h2>
        <p>Add a provider in your panel. It needs two things:</p>
        <Code text="RESELLER_URL_HERE/api/v2" label="URL" />
        <Code text="RESELLER_KEY_HERE" label="Key" />
        <p>
          <Prose text="The key is an Order Key or Full Access. Your operator creates it, and can limit it to the address of your server. Nothing else has to be set." />
        </p>
      </section>
      <section>
        <h2 id="fields">Names in panel programs</h2>
        <Table
          headings={["Panel", "The URL", "The key", "Other settings"]}
          rows={CLIENT_PROGRAMS.map(([name, url, key, besides]) =>
            [name, url, key, besides].map((text) => (
              <>
                <Prose text={filled(text)} />
              </>
            )),
          )}
        />
      </section>
      <section>
        <h2 id="actions">Actions</h2>
        <p>
          <Prose text="`POST` with the fields as a form or as JSON. Service numbers never change. A second `add` with the same `reference` returns the first order. If `dripfeed` is true, an order may have `runs` and `interval`. `cancel` and `refill` send a request, for services whose flags allow it. No money moves until the order's status changes." />
        </p>
        <p>
          <Prose text="The fields that `add` needs besides `service` and `link` depend on the type of the service:" />
        </p>
        <Table
          headings={["Type", "Fields", "Charged"]}
          rows={TYPE_ROWS.map(({ type, fields, charged }) => [
            <>{typeTerms(type).words}</>,
            <>{fields.join(", ") || "–"}</>,
            <>{charged}</>,
          ])}
        />
        {SMM_API_EXAMPLES.map(({ name, fields, response }) => (
          <div class="pair">
            <Code text={callOf(fields)} label={name} />
            <Code text={JSON.stringify(response, null, 2)} label="200" />
          </div>
        ))}
      </section>
      <section>
        <h2 id="statuses">Statuses</h2>
        <Table
          headings={["Word", "Meaning"]}
          rows={rows(Object.entries(STATUSES))}
          about="Statuses of an order"
        />
        <p>
          <Prose text="Statuses of a refill, as `refill_status` returns them:" />
        </p>
        <Table
          headings={["Word", "Meaning"]}
          rows={rows(Object.entries(REFILLS))}
          about="Statuses of a refill"
        />
      </section>
      <section>
        <h2 id="panel-errors">Errors</h2>
        <p>
          <Prose
            text={
              'Errors are `{"error":"…"}` with status 200, unless the table names another status.'
            }
          />
        </p>
        <Table headings={["Words", "Meaning"]} rows={rows(ERRORS)} />
        <p>
          <Prose text="Any other status, or anything but the JSON described here, such as a page of a proxy, counts as no answer: the order may have been placed. Send it again with the same `reference`." />
        </p>
      </section>
      <section>
        <h2 id="panel-sample">Sample in PHP</h2>
        <Code
          text="export RESELLER_URL=RESELLER_URL_HERE RESELLER_KEY=RESELLER_KEY_HERE"
          label="Environment"
        />
        <Code text={sample} label="panel.php" />
      </section>
    </>
  );
}

/** Fills in an example URL, because the script does not fill in tables. */
function filled(text: string): string {
  return text.replaceAll("RESELLER_URL_HERE", "https://your-reseller.example");
}

function callOf(fields: Record<string, string>): string {
  const lines = Object.entries({ key: "RESELLER_KEY_HERE", ...fields }).map(
    ([name, value]) => `-d ${name}='${value}'`,
  );
  return [
    ...lines.map((line, index) => (index === 0 ? `curl ${line}` : line)),
    "RESELLER_URL_HERE/api/v2",
  ].join(" \\\n  ");
}
