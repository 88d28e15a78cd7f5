// The limits of a reseller, what it has used of them, and the form that changes them.

/** @jsxImportSource preact */

import type { LimitFacts } from "../../db/users/reseller-limits.ts";
import { formatMicros, type Micros } from "../../domain/ledger/money.ts";
import type { OrderLimits } from "../../domain/users/reseller-limits.ts";
import { ORDER_LIMIT, PRICE, RATE_LIMIT } from "../../domain/values/kinds.ts";
import { formatRate, type Rate } from "../../domain/values/units.ts";
import { Field, Form } from "../../web/components/fields.tsx";
import { List } from "../../web/components/lists.tsx";
import type { Redirect } from "../../web/server/results.ts";
import type { Submission } from "../server/call.ts";
import { userPath } from "./shown-user.ts";

interface LimitsProps {
  facts: LimitFacts;
  /** The server's defaults. */
  defaults: { rateLimit: Rate | 0; orderLimits: OrderLimits };
}

interface LimitRow {
  what: string;
  used: string;
  limit: string;
}

/** Section with what is used of each limit. */
export function Limits(props: LimitsProps) {
  return (
    <>
      <h2 id="limits">Limits</h2>
      <List
        caption="Limits"
        rows={rowsOf(props)}
        empty=""
        columns={[
          { heading: "What", cell: ({ what }) => what },
          { heading: "Used", number: true, cell: ({ used }) => used },
          { heading: "Limit", number: true, cell: ({ limit }) => limit },
        ]}
      />
    </>
  );
}

function rowsOf({ facts, defaults }: LimitsProps): LimitRow[] {
  const { own, minuteOrders, dayMicros, monthMicros, openOrders } = facts;
  const { rateLimit, orderLimits } = defaults;
  const rate = rateLimit === 0 ? "none" : `${formatRate(rateLimit)} for each key`;
  const limit = (given: number | null, standard: number, format: (value: number) => string) => {
    const applied = given ?? standard;
    const text = applied === 0 ? "none" : format(applied);
    return given === null ? `${text} (default)` : text;
  };
  const usd = (micros: Micros) => `${formatMicros(micros)} USD`;
  return [
    {
      what: "Requests",
      used: "–",
      limit: own.rateLimit === null ? `${rate} (default)` : own.rateLimit.replace(/^0$/, "none"),
    },
    {
      what: "Orders this minute",
      used: String(minuteOrders),
      limit: limit(own.ordersPerMinute, orderLimits.ordersPerMinute, String),
    },
    {
      what: "Spend today (UTC)",
      used: usd(dayMicros),
      limit: limit(own.spendPerDayMicros, orderLimits.spendPerDayMicros, usd),
    },
    {
      what: "Spend this month (UTC)",
      used: usd(monthMicros),
      limit: limit(own.spendPerMonthMicros, orderLimits.spendPerMonthMicros, usd),
    },
    {
      what: "Open orders",
      used: String(openOrders),
      limit: limit(own.openOrders, orderLimits.openOrders, String),
    },
  ];
}

/** Form for the limits. `path`: path of the user. */
export function LimitsForm({ facts: { own }, path }: { facts: LimitFacts; path: string }) {
  const amount = (micros: number | null) => (micros === null ? "" : formatMicros(micros));
  return (
    <Form action={`${path}/limits`} submit="Save the limits">
      <p class="hint">Empty: the default. 0: no limit.</p>
      <Field
        name="rate-limit"
        label="Requests of all its keys"
        hint="a rate such as 20/s or 600/m"
        value={own.rateLimit ?? ""}
      />
      <Field
        name="orders-per-minute"
        label="Orders per minute"
        inputmode="numeric"
        value={own.ordersPerMinute ?? ""}
      />
      <Field
        name="spend-per-day"
        label="Spend per day in USD"
        inputmode="decimal"
        hint="charges less refunds"
        value={amount(own.spendPerDayMicros)}
      />
      <Field
        name="spend-per-month"
        label="Spend per month in USD"
        inputmode="decimal"
        value={amount(own.spendPerMonthMicros)}
      />
      <Field
        name="open-orders"
        label="Open orders"
        inputmode="numeric"
        value={own.openOrders ?? ""}
      />
    </Form>
  );
}

export async function setLimits(submission: Submission): Promise<Redirect> {
  const { form } = submission;
  const username = submission.params["user"]!;
  const changes = {
    rateLimit: form.optional("rate-limit", RATE_LIMIT, "0"),
    ordersPerMinute: form.optional("orders-per-minute", ORDER_LIMIT, 0),
    spendPerDayMicros: form.optional("spend-per-day", PRICE, 0),
    spendPerMonthMicros: form.optional("spend-per-month", PRICE, 0),
    openOrders: form.optional("open-orders", ORDER_LIMIT, 0),
  };
  form.check();
  await submission.submit("setLimits", { username, changes });
  return { to: `${userPath(username)}#limits`, note: "The limits are saved." };
}
