// A provider's unknown orders: the search for them at the provider, and the form that settles many at once. Nothing is
// ticked at first, and the form settles only what is ticked (unknown-settlement.tsx).

/** @jsxImportSource preact */

import { listUnknownOrders } from "../../db/delivery/sent-orders.ts";
import { findOrder, type Order } from "../../db/orders/orders.ts";
import type { Reader } from "../../db/port/port.ts";
import { usernameOf } from "../../db/users/users.ts";
import { mayAct } from "../../domain/administrators/administrators.ts";
import { NEARBY_DEFAULT, NEARBY_LIMIT } from "../../domain/delivery/number-ranges.ts";
import {
  type Finding,
  shownEvidence,
  type Verdict,
  verdictCounts,
} from "../../domain/delivery/unknown-matches.ts";
import { counted, sentenceFrom, showHidden } from "../../domain/values/text.ts";
import { readDeliveryScene, SEARCHED_LIMIT } from "../../operations/delivery/unknown-scenes.ts";
import { type NumberSearch, searchNumbers } from "../../providers/number-search.ts";
import { Errors, Field, Form } from "../../web/components/fields.tsx";
import { List } from "../../web/components/lists.tsx";
import { Badge, Money, Sentence, Time, Typed, TypedLink } from "../../web/components/shown.tsx";
import { NeverPlaced } from "../orders/order-settlement.tsx";
import type { Form as Values } from "../../web/server/form.ts";
import type { View } from "../../web/server/results.ts";
import type { Call, Submission } from "../server/call.ts";
import type { Panel } from "../server/panel.ts";
import { requireProvider } from "./provider.tsx";

export const NOT_SENT = "not-sent";
/** Prefix of the value that means: sent, under the number that follows. */
export const SENT = "sent-";
/** Name of the field that says how an order is settled. */
export const settlementField = (orderId: number | string) => `as-${orderId}`;
/** Names of the boxes, so that one box can tick all likely orders. */
export const BOXES = ["likely", "order"] as const;

const WORDS: Record<Verdict, readonly [text: string, tone: "good" | "bad" | "busy"]> = {
  sent: ["likely sent", "good"],
  not_sent: ["likely not sent", "bad"],
  unclear: ["unclear", "busy"],
};

interface Row {
  order: Order;
  username: string;
  sentAt: number;
  /** Undefined: the provider was not asked about it. */
  finding: Finding | undefined;
}

export async function unknownOrdersPage(call: Call): Promise<View> {
  const { name, rows } = await call.read((reader) => readRows(reader, call, []));
  const mayChange = mayAct(call.visitor.administrator.role, "operator");
  return viewOf(
    name,
    <>
      {rows.length > 0 && (
        <p>
          The replies to these orders were lost, so {name} may have received them or not. Ask it
          about the order numbers near them: that changes nothing, here or there.
        </p>
      )}
      {mayChange && rows.length > 0 && <Search name={name} />}
      <List
        caption={`Unknown orders at ${name}`}
        rows={rows}
        empty="No unknown orders: nothing is to be settled."
        columns={[
          ...columnsOf(),
          ...(mayChange
            ? [
                {
                  heading: "If it was never placed",
                  place: "foot" as const,
                  cell: ({ order }: Row) => <NeverPlaced order={order} />,
                },
              ]
            : []),
        ]}
      />
    </>,
  );
}

/** Asks the provider and shows what was found out. */
export async function searchUnknown(submission: Submission, panel: Panel): Promise<View> {
  const { form } = submission;
  const nearby = form.whole("nearby", 1, NEARBY_LIMIT);
  form.check();
  return searchView(submission, panel, nearby, null);
}

/** Searches the provider and shows the form that settles. `refused`: a form that was refused, with its errors. */
export async function searchView(
  call: Call,
  panel: Panel,
  nearby: number,
  refused: Values | null,
): Promise<View> {
  const provider = await call.read((reader) => requireProvider(reader, call.params["provider"]!));
  const search = await searchNumbers(
    panel.connect(provider),
    (known) => readDeliveryScene(panel.slowStore, provider, known),
    { nearby, stop: new AbortController().signal, now: panel.now },
  );
  const { name, rows } = await call.read((reader) => readRows(reader, call, search.findings));
  const view = viewOf(
    name,
    <>
      {refused && <Errors id={null} form={refused} />}
      <Summary name={name} search={search} rows={rows} />
      {rows.length > 0 && (
        <Form action={`/providers/${name}/unknown/settle`} hidden={{ nearby }}>
          <div class="together">
            <span class="box" hidden>
              <input type="checkbox" id="all-likely" data-all="likely" />
              <label for="all-likely">All likely ones</label>
            </span>
            <button class="primary">Settle the selected orders</button>
          </div>
          <List
            caption={`Unknown orders at ${name}, with the evidence`}
            rows={rows}
            empty=""
            columns={[...choicesOf(refused), ...columnsOf(), EVIDENCE]}
          />
        </Form>
      )}
      <Search name={name} nearby={nearby} />
    </>,
  );
  return refused ? { ...view, status: 422 } : view;
}

function viewOf(name: string, children: View["body"]): View {
  return {
    title: `Unknown orders at ${name}`,
    body: (
      <>
        <h1>
          Unknown orders at <a href={`/providers/${name}`}>{name}</a>
        </h1>
        {children}
      </>
    ),
  };
}

/** Reads the provider's unknown orders as they are now. */
function readRows(
  reader: Reader,
  call: Call,
  findings: readonly Finding[],
): { name: string; rows: Row[] } {
  const { name, providerId } = requireProvider(reader, call.params["provider"]!);
  const byId = new Map(findings.map((finding) => [finding.orderId, finding]));
  const listed = listUnknownOrders(reader, providerId, SEARCHED_LIMIT);
  const rows = reader.each(listed, ({ orderId, startedAt }): Row => {
    const order = findOrder(reader, String(orderId))!;
    const username = usernameOf(reader, order.resellerAccount);
    return { order, username, sentAt: startedAt, finding: byId.get(orderId) };
  });
  return { name, rows };
}

function Search({ name, nearby = NEARBY_DEFAULT }: { name: string; nearby?: number }) {
  return (
    <section class="card narrow-card">
      <Form action={`/providers/${name}/unknown`} submit={`Ask ${name}`}>
        <Field
          name="nearby"
          label="Numbers to ask about for each order"
          inputmode="numeric"
          value={nearby}
          hint={`${NEARBY_DEFAULT} is enough unless many others order there; at most ${NEARBY_LIMIT}`}
        />
      </Form>
    </section>
  );
}

function Summary({
  name,
  search: { asked, failure, balance },
  rows,
}: {
  name: string;
  search: NumberSearch;
  rows: readonly Row[];
}) {
  const counts = verdictCounts(rows.map(({ finding }) => finding?.verdict ?? "unclear"));
  if (rows.length === 0) return <p class="notice good">No unknown orders: nothing to settle.</p>;
  return (
    <>
      {failure !== null && (
        <p class="notice bad">
          {name} was not asked about all numbers: <Typed text={failure} />
        </p>
      )}
      <p>
        {counted(rows.length, "order")}: {counts}, by {counted(asked, "order number")}. This is no
        proof: an order that someone placed by hand in the account at {name} may look like ours.
        Look up unclear orders there by link and time.
      </p>
      <p>
        <Typed text={sentenceFrom(balance)} />
      </p>
    </>
  );
}

/** The box and the choice of a row. Nothing is ticked unless the visitor ticked it. */
function choicesOf(refused: Values | null) {
  return [
    {
      heading: "Select",
      place: "box" as const,
      cell: ({ order: { orderId }, finding }: Row) => {
        const [likely, other] = BOXES;
        const name = (finding?.verdict ?? "unclear") === "unclear" ? other : likely;
        return (
          <input
            type="checkbox"
            name={name}
            value={orderId}
            checked={BOXES.some((each) => refused?.all(each).includes(String(orderId)))}
            aria-label={`Select order ${orderId}`}
          />
        );
      },
    },
    {
      heading: "Settle as",
      place: "foot" as const,
      cell: ({ order: { orderId }, finding }: Row) => (
        <select name={settlementField(orderId)} aria-label={`Settle order ${orderId} as`}>
          {optionsOf(finding).map(([value, text]) => (
            <option
              value={value}
              selected={value === (refused?.raw(settlementField(orderId)) ?? likelyOf(finding))}
            >
              {text}
            </option>
          ))}
        </select>
      ),
    },
  ];
}

function optionsOf(finding: Finding | undefined): (readonly [value: string, text: string])[] {
  const { verdict = "unclear", candidates = [] } = finding ?? {};
  return [
    ...(verdict === "unclear" ? [["", "choose"] as const] : []),
    ...candidates.map(
      ({ providerOrder }) => [SENT + providerOrder, `sent as ${providerOrder}`] as const,
    ),
    [NOT_SENT, "not sent: refund"],
  ];
}

function likelyOf(finding: Finding | undefined): string {
  if (finding?.verdict === "sent") return SENT + finding.providerOrder;
  return finding?.verdict === "not_sent" ? NOT_SENT : "";
}

function columnsOf() {
  return [
    {
      heading: "Order",
      place: "first" as const,
      cell: ({ order: { orderId } }: Row) => <a href={`/orders/${orderId}`}>{orderId}</a>,
    },
    {
      heading: "Reseller",
      place: "second" as const,
      cell: ({ username }: Row) => <a href={`/users/${username}`}>{username}</a>,
    },
    {
      heading: "Link",
      place: "title" as const,
      cell: ({ order }: Row) => <TypedLink text={order.link} short />,
    },
    { heading: "Quantity", number: true, cell: ({ order }: Row) => order.quantity },
    {
      heading: "Charge USD",
      number: true,
      place: "end" as const,
      cell: ({ order }: Row) => <Money micros={order.chargeMicros} />,
    },
    {
      heading: "Sent (UTC)",
      place: "third" as const,
      cell: ({ sentAt }: Row) => <Time at={sentAt} />,
    },
  ];
}

const EVIDENCE = {
  heading: "Evidence",
  place: "foot" as const,
  cell: ({ finding }: Row) => {
    const judged = finding ?? {
      verdict: "unclear",
      evidence: ["the provider was not asked about it"],
    };
    const [text, tone] = WORDS[judged.verdict];
    const { shown, folded } = shownEvidence(judged);
    return (
      <div>
        <Badge state={text} tone={tone} /> <Evidence texts={shown} />
        {folded.length > 0 && (
          <details>
            <summary>More</summary>
            <Evidence texts={folded} />
          </details>
        )}
      </div>
    );
  },
};

/** Findings in a row. Some have words of the provider. */
function Evidence({ texts }: { texts: readonly string[] }) {
  return (
    <bdi class="typed">
      <Sentence text={showHidden(texts.join("; "))} />
    </bdi>
  );
}
