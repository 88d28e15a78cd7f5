// Every component of the pages in all its states, as a page. Not part of the program: `bun run components` serves it.

/** @jsxImportSource preact */

import type { ComponentChildren } from "preact";
import { ORDER_STATUSES } from "../../../../src/domain/orders/order-statuses.ts";
import { Bulk, RowBox } from "../../../../src/web/components/bulk.tsx";
import { Chart } from "../../../../src/web/components/chart.tsx";
import {
  Area,
  Box,
  Choice,
  Field,
  Filters,
  Fold,
  Form,
  Refused,
} from "../../../../src/web/components/fields.tsx";
import { DemoSignIns } from "../../../../src/web/components/demo-sign-ins.tsx";
import { Facts, List, Pager } from "../../../../src/web/components/lists.tsx";
import { PageHead, Pop, Tabs } from "../../../../src/web/components/page-head.tsx";
import {
  Badge,
  Cents,
  Sentence,
  Money,
  Time,
  type Tone,
  toneOf,
  Typed,
  TypedLink,
} from "../../../../src/web/components/shown.tsx";
import { Tile } from "../../../../src/web/components/tiles.tsx";
import type { DemoSite } from "../../../../src/web/server/demo.ts";
import { Form as Values } from "../../../../src/web/server/form.ts";
import { documentOf } from "../../../../src/web/server/layout.tsx";
import { utcText } from "../../../../src/domain/values/times.ts";
import { ENGLISH } from "../../../../src/web/server/words.ts";

const TONES: readonly Tone[] = ["good", "busy", "going", "bad", "part", "quiet"];
const NOW = Date.UTC(2026, 10, 27, 12);
const LONG =
  "Instagram followers, real accounts, gradual start within 30 minutes, refill for 30 days";
const PATH = "/";

const filters = new Values(new URLSearchParams({ user: "alice", below: "4", earlier: "9 7" }));

function refusedForm(): Values {
  const form = new Values(new URLSearchParams({ amount: "much", kind: "other" }));
  form.refuse("amount", "an amount above 0, such as 2.32");
  form.refuse("kind", "one of the list");
  return form;
}

const ROWS = ORDER_STATUSES.map((status, at) => ({
  id: 4812 - at,
  status,
  name: at % 2 === 0 ? LONG : "Likes",
  micros: 2_320_000 * (at + 1) + at,
}));

/** Returns the page as a document, with the note that follows an action. */
export function componentsDocument(): string {
  const note = { tone: "good", text: "Order 4812 is completed." } as const;
  const site = { prefix: "", brand: { name: "reseller", logo: null, style: null } };
  const frame = { site, words: ENGLISH, title: "Components", header: null, note };
  return documentOf(frame, <Components />);
}

const demoSite = (resets: string | null): DemoSite => ({
  signIns: [{ name: "buyer@shop.example", password: "everybody-may-try", role: "buyer" }],
  key: resets && "rk_WgoMsuEbVHHg0uXzkQEpF33nFhHb",
  resets: () => resets,
  payments: null,
  isOpen: null,
});

function Part({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

function Components() {
  return (
    <>
      <PageHead title="Components">
        <small>all of them, in all states</small>
        <Filters
          action={PATH}
          filters={filters}
          chips={[
            { names: ["user"], text: "Reseller: alice" },
            { names: ["from", "to"], text: "2026-11-01 to 2026-11-27" },
          ]}
        >
          <Field name="user" label="Reseller" />
          <Choice name="status" label="Status" options={ORDER_STATUSES} any="any" />
        </Filters>
        <a class="button" href={PATH}>
          Other
        </a>
        <a class="button primary" href={PATH}>
          New
        </a>
      </PageHead>
      <Tabs
        label="Status"
        tabs={[
          { text: "All", href: PATH, isChosen: true, count: "3,000" },
          { text: "Pending", href: PATH, isChosen: false, count: "12" },
          { text: "Failed", href: PATH, isChosen: false },
        ]}
      />
      <Part title="States, notices and figures">
        <p class="inline">
          {ORDER_STATUSES.map((status) => (
            <Badge state={status} />
          ))}
          {TONES.map((tone) => (
            <Badge state={tone} tone={tone} />
          ))}
        </p>
        {TONES.map((tone) => (
          <p class={`notice ${tone}`}>
            A notice that is {tone}. <a href={PATH}>What to do</a>
          </p>
        ))}
        <div class="tiles">
          <Tile name="Orders" value={120} before={100} show={String} />
          <Tile name="Refunds" value={0} before={0} show={String} />
        </div>
        <Facts
          facts={[
            ["Charge USD", <Money micros={2_320_001} />],
            ["In lists", <Cents micros={2_320_001} />],
            ["Missing", <Time at={null} />],
            ["Time", <Time at={NOW} />],
            ["In a sentence", <Sentence text={`It waits since ${utcText(NOW)}, for now.`} />],
            ["Typed", <Typed text={"\u202eevil"} />],
            ["Link", <TypedLink text="https://example.com/p/1" />],
          ]}
        />
      </Part>
      <Part title="Sign-ins of a demo">
        <DemoSignIns demo={demoSite(null)} />
        <DemoSignIns demo={demoSite("11:00 UTC")} />
      </Part>
      <Part title="Lists">
        <form id="rows">
          <List
            caption="Orders"
            compact
            rows={ROWS}
            empty=""
            sorting={{ by: "id", isDescending: true, href: (by) => `${PATH}?by=${by}` }}
            columns={[
              {
                heading: "Select",
                place: "box",
                cell: ({ id, micros }) => (
                  <RowBox name="order" value={id} micros={micros} label={`Select order ${id}`} />
                ),
              },
              { heading: "Order", place: "first", sort: "id", cell: ({ id }) => id },
              {
                heading: "Status",
                place: "state",
                cell: ({ status }) => <Badge state={status} />,
              },
              {
                heading: "Service",
                grow: true,
                place: "title",
                title: ({ name }) => name,
                cell: ({ name }) => <Typed text={name} />,
              },
              {
                heading: "Charge USD",
                number: true,
                place: "end",
                sort: "charge",
                cell: ({ micros }) => <Cents micros={micros} signed />,
              },
              {
                heading: "Decide",
                place: "foot",
                cell: ({ id }) => (
                  <div class="actions">
                    <button type="button">Approve {id}</button>
                    <button type="button">Decline {id}</button>
                  </div>
                ),
              },
            ]}
          />
          <Bulk name="order">
            <button>Complete</button>
            <button class="danger">Cancel</button>
          </Bulk>
        </form>
        <Pager call={{ path: PATH, filters }} next={2} />
        <List caption="Nothing" columns={[]} rows={[]} empty="No matching orders." />
        <List
          caption="A list that is no list of cards"
          rows={ROWS.slice(0, 2)}
          empty=""
          columns={[
            { heading: "Name", cell: ({ name }) => <Typed text={name} /> },
            { heading: "Empty", cell: () => <Time at={null} /> },
            {
              heading: "Charge USD",
              number: true,
              cell: ({ micros }) => <Money micros={micros} />,
            },
          ]}
        />
      </Part>
      <Part title="Forms">
        <div class="columns">
          <section class="card">
            <Fields action="/fine" title="A form" />
          </section>
          <section class="card">
            <Refused.Provider value={{ action: "/wrong", form: refusedForm() }}>
              <Fields action="/wrong" title="A refused form" />
            </Refused.Provider>
          </section>
        </div>
        <p class="inline">
          <button>Button</button>
          <button class="primary">Primary</button>
          <button class="danger">Danger</button>
          <button class="danger primary">Danger, asked first</button>
          <a class="button" href={PATH}>
            Link
          </a>
        </p>
        <div class="head">
          <Pop button="Menu">
            <Field name="menu" label="In a menu" />
          </Pop>
          <Pop button="New" primary>
            <p>What the page is used for most.</p>
          </Pop>
          <Pop button="At the end" atEnd>
            <Field name="end" label="In a menu at the end" />
          </Pop>
        </div>
        <Fold action="/fold" summary="Something folded">
          <p>What was folded.</p>
        </Fold>
      </Part>
      <Part title="Charts and history">
        <Chart
          title="Orders by day"
          labels={["11-25", "11-26", "11-27"]}
          series={ORDER_STATUSES.map((status, at) => ({
            name: status,
            tone: toneOf(status),
            values: [at + 1, 3, 8 - at],
          }))}
        />
        <ol class="timeline">
          <li>
            <Time at={NOW} /> <strong>created</strong> by <Typed text="alice" />
          </li>
          <li>
            <Time at={NOW} /> <Badge state="PENDING" /> → <Badge state="PROCESSING" />
          </li>
        </ol>
      </Part>
    </>
  );
}

function Fields({ action, title }: { action: string; title: string }) {
  return (
    <Form action={action} submit="Credit 250.00 USD">
      <h2>{title}</h2>
      <Field name="amount" label="Amount in USD" inputmode="decimal" hint="at most 1,000" />
      <Choice name="kind" label="Kind" options={["one", "two"]} />
      <Area name="note" label="Note" value="Two lines\nof text" />
      <Box name="all" label="for all of them" />
    </Form>
  );
}
