// The page of the guide for owners of panels: what to enter where, how the protocol works here, and its calls in /api/v1.

/** @jsxImportSource preact */

import sample from "../../../docs/samples/panel.php" with { type: "text" };
import { typeTerms } from "../../domain/catalogue/service-types.ts";
import type { SmmOrderWord, SmmRefillWord } from "../../domain/orders/smm-words.ts";
import { formsOf } from "../code/forms.ts";
import { LANGUAGES } from "../code/languages.ts";
import { Code, Json, Prose, Table, Tabs } from "../page/parts.tsx";
import type { GuidePage } from "./guide.ts";
import { OwnKey } from "./start.tsx";
import { TYPE_ROWS } from "../schemas/order-fields-by-type.ts";
import { SMM_API_EXAMPLES } from "../endpoints/smm-api.ts";

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

/** The call of /api/v1 for each action. */
const ACTIONS: readonly (readonly [action: string, call: string])[] = [
  ["services", "[List services](/docs/reference/list-services) with `fields=all`"],
  [
    "add",
    "[Place an order](/docs/reference/place-order); with an `Idempotency-Key` a retry places no second order",
  ],
  [
    "status",
    "[Read an order](/docs/reference/get-order), or [webhooks](/docs/webhooks) in its place",
  ],
  ["status with orders", "[List orders](/docs/reference/list-orders) with `ids`"],
  ["balance", "[Read the balance](/docs/reference/get-balance)"],
  ["cancel", "[Ask to cancel an order](/docs/reference/cancel-order)"],
  ["refill", "[Ask to refill an order](/docs/reference/refill-order)"],
  ["refill_status", "[List the requests for an order](/docs/reference/list-order-requests)"],
];

const wordRows = (entries: readonly (readonly [string, string])[]) =>
  entries.map(([word, meaning]) => [<code>{word}</code>, <Prose text={meaning} />]);

function Connect() {
  return (
    <>
      <OwnKey />
      <p>Add a provider in your panel. It needs two things:</p>
      <Code text="RESELLER_URL_HERE/api/v2" label="URL" />
      <Code text="RESELLER_KEY_HERE" label="Key" />
      <p>
        <Prose text="The key is an Order Key or Full Access. Your operator creates it, and can limit it to the address of your server. Nothing else has to be set." />
      </p>
    </>
  );
}

function Programs() {
  return (
    <Table
      headings={["Panel", "The URL", "The key", "Other settings"]}
      rows={CLIENT_PROGRAMS.map((row) => row.map((text) => <Prose text={filled(text)} />))}
    />
  );
}

const ADD = formsOf(SMM_API_EXAMPLES.find(({ name }) => name === "add")!.fields);

function Actions() {
  return (
    <>
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
      <p>
        <Prose text="An order in each language. Every other action is the same call with other fields. The example reads your key from `RESELLER_KEY`: [set it once](/docs#quick-start)." />
      </p>
      <Tabs
        name="panel-add"
        panels={LANGUAGES.map(({ id, name, syntax, file }) => ({
          id,
          name,
          syntax,
          label: file,
          text: ADD[id]!,
        }))}
      />
      {SMM_API_EXAMPLES.map(({ name, fields, response }) => (
        <div class="pair">
          <Code text={callOf(fields)} label={name} syntax="shell" />
          <Json value={response} label="200" />
        </div>
      ))}
    </>
  );
}

function Statuses() {
  return (
    <>
      <Table
        headings={["Word", "Meaning"]}
        rows={wordRows(Object.entries(STATUSES))}
        about="Statuses of an order"
      />
      <p>
        <Prose text="Statuses of a refill, as `refill_status` returns them:" />
      </p>
      <Table
        headings={["Word", "Meaning"]}
        rows={wordRows(Object.entries(REFILLS))}
        about="Statuses of a refill"
      />
    </>
  );
}

function PanelErrors() {
  return (
    <>
      <p>
        <Prose
          text={
            'Errors are `{"error":"…"}` with status 200, unless the table names another status.'
          }
        />
      </p>
      <Table headings={["Words", "Meaning"]} rows={wordRows(ERRORS)} />
      <p>
        <Prose text="Any other status, or anything but the JSON described here, such as a page of a proxy, counts as no answer: the order may have been placed. Send it again with the same `reference`." />
      </p>
    </>
  );
}

function MovingOver() {
  return (
    <>
      <p>
        <Prose text="A program that orders from another provider by API v2 works here as it is: change its URL and its key, and its service numbers. Orders placed there stay there. To gain safe retries, exact amounts and webhooks, move it to `/api/v1`. The same key works for both, and both see the same orders." />
      </p>
      <Table headings={["Action", "In /api/v1"]} rows={wordRows(ACTIONS)} />
      <p>
        <Prose text="A service has an `id` in `/api/v1`, not a number; both lists have the same names. The key is the header `x-api-key`, bodies are JSON, and errors have a [status and a `code`](/docs/errors)." />
      </p>
    </>
  );
}

function Sample() {
  return (
    <>
      <Code
        text="export RESELLER_URL='RESELLER_URL_HERE' RESELLER_KEY='RESELLER_KEY_HERE'"
        label="Terminal"
        syntax="shell"
      />
      <Code text={sample} label="panel.php" syntax="php" />
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

export const PANELS: GuidePage = {
  path: "/docs/panels",
  title: "API v2 for panels",
  lead: "The protocol that panels and their clients speak: one URL, a form with key and action, errors with status 200.",
  sections: [
    {
      id: "connect",
      title: "Connect your panel",
      about: "URL and key of the provider, /api/v2",
      Body: Connect,
    },
    {
      id: "fields",
      title: "Names in panel programs",
      about: "SmartPanel, CMSNT, EGF and others: where URL and key are entered",
      Body: Programs,
    },
    {
      id: "moving-over",
      title: "Moving over from API v2",
      about: "From another provider, and from /api/v2 to /api/v1",
      Body: MovingOver,
    },
    {
      id: "actions",
      title: "Actions",
      about: "services, add, status, balance, cancel, refill, refill_status",
      Body: Actions,
    },
    {
      id: "statuses",
      title: "Statuses",
      about: "Pending, In progress, Completed, Partial, Canceled, Rejected",
      Body: Statuses,
    },
    {
      id: "panel-errors",
      title: "Errors",
      about: "Words of /api/v2 such as neworder.error.not_enough_funds",
      Body: PanelErrors,
    },
    {
      id: "panel-sample",
      title: "Sample in PHP",
      about: "A program for /api/v2",
      Body: Sample,
    },
  ],
};
