// The first page of the guide: from a key to an order, and what holds for every call.

/** @jsxImportSource preact */

import { type CodeCall, LANGUAGES } from "../code/languages.ts";
import { Calls, Code, Prose } from "../page/parts.tsx";
import type { GuidePage } from "./guide.ts";

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
      <p>It is filled in below. It stays in the memory of this page only, until you leave.</p>
      <output id="checked" for="key"></output>
    </form>
  );
}

const get = (path: string): CodeCall => ({
  method: "GET",
  path: `/api/v1${path}`,
  isIdempotent: false,
});

const ORDER: CodeCall = {
  method: "POST",
  path: "/api/v1/orders",
  body: { service: "instagram-followers", link: "https://example.com/me", quantity: 1000 },
  isIdempotent: true,
};

function QuickStart() {
  const files = LANGUAGES.slice(1)
    .map(({ file }) => `\`${file}\``)
    .join(", ");
  return (
    <>
      <OwnKey />
      <h3>1. Set your key</h3>
      <p>
        <Prose text="The examples read it from the variable `RESELLER_KEY`, so that it is in no program. Set it in the terminal in which you run them:" />
      </p>
      <Code text="export RESELLER_KEY='RESELLER_KEY_HERE'" label="Terminal" syntax="shell" />
      <p>
        <Prose
          text={`Paste a curl example into the terminal. Save any other under its name (${files}) and run it with \`node\`, \`python3\` or \`php\`. Nothing else has to be installed. Choose a language once: all pages remember it. In PowerShell set the variable with \`$env:RESELLER_KEY = '…'\`; the curl examples need a POSIX shell, such as Git Bash.`}
        />
      </p>
      <h3>2. Read your balance</h3>
      <Calls name="try-balance" call={get("/balance")} />
      <h3>3. See what you can order</h3>
      <Calls name="try-services" call={get("/services")} />
      <p>
        <Prose text="An order names a service by its `id`. `price` is for 1000 units unless your operator says otherwise; `min` and `max` limit the quantity." />
      </p>
      <h3>4. Place an order</h3>
      <p>
        <Prose text="This call spends money; with a [test key](/docs/testing) it spends test money. Replace the service and the link:" />
      </p>
      <Calls name="try-order" call={ORDER} />
      <p>
        <Prose text="Each run makes a new `Idempotency-Key`, and so a new order. If no answer arrives, send the same request with the same `Idempotency-Key`, and the order is placed only once: in the terminal, run the `curl` command again without the line above it. A program stores the `Idempotency-Key` with its order before it sends it: see [Retrying safely](/docs/errors#idempotency)." />
      </p>
      <h3>5. Follow the order</h3>
      <p>This lists your newest order:</p>
      <Calls name="try-status" call={get("/orders?limit=1")} />
      <p>
        <Prose text="[Read one order](/docs/reference/get-order) by its `orderId`. The [life of an order](/docs/orders) explains `status`. To receive changes instead of asking for them, register a [webhook](/docs/webhooks). Complete programs are in [Sample programs](/docs/samples)." />
      </p>
    </>
  );
}

function Keys() {
  return (
    <>
      <p>
        <Prose text="Every call carries the header `x-api-key`. Your operator makes the keys, and can limit a key to the addresses of your servers, give it an end or deactivate it at any moment. An Order Key can do everything in this guide." />
      </p>
      <p>
        <Prose text="Keep your key on your server, never in a page or an app. A key that begins with `rk_test_` is a [test key](/docs/testing): the same calls with test money." />
      </p>
    </>
  );
}

function Amounts() {
  return (
    <>
      <p>
        <Prose text="Amounts are JSON numbers in USD with at most six decimals, exact to the last. A price is for 1000 units unless your operator says otherwise; a charge is `price × quantity ÷ 1000`, rounded up to a millionth of a dollar. Times are ISO 8601 in UTC." />
      </p>
      <p>
        <Prose text="A success is always a 200 with `status` `success`. Every answer carries `x-request-id`: yours if you sent one, otherwise ours. Give it when you ask your operator about a call." />
      </p>
    </>
  );
}

function Lists() {
  return (
    <p>
      <Prose text="Lists are newest first. If `nextCursor` is not null, there is more: give it as `cursor`, with the same filters, to read on. Cursors do not expire. Entries added while you read do not shift the pages: no entry is missing or listed twice. `from` and `to` are both included; a date without a time is the whole day in UTC. With `Accept: text/csv` orders and transactions come as one CSV file." />
    </p>
  );
}

export const START: GuidePage = {
  path: "/docs",
  title: "Quick start",
  lead: "Order catalogue services, follow the orders, read your balance and your transactions: JSON over HTTP, with the key that your operator gave you.",
  sections: [
    {
      id: "quick-start",
      title: "Your first order",
      about: "First call, set the key, read the balance, list services, place an order",
      Body: QuickStart,
    },
    {
      id: "keys",
      title: "Authentication",
      about: "API key, header x-api-key, Order Key, test key",
      Body: Keys,
    },
    {
      id: "amounts",
      title: "Amounts, times and answers",
      about: "USD, decimals, price per 1000, rounding, ISO 8601, UTC, x-request-id",
      Body: Amounts,
    },
    {
      id: "lists",
      title: "Lists",
      about: "Pagination, cursor, nextCursor, limit, from, to, CSV",
      Body: Lists,
    },
  ],
};
