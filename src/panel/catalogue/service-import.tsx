// Import of services: all rows of a list, or none if one is wrong. Every wrong row is shown.

/** @jsxImportSource preact */

import type { Refusal } from "../../domain/values/error-table.ts";
import { counted } from "../../domain/values/text.ts";
import { HEADER_FORM, readCatalogue } from "../../imports/catalogue.ts";
import { lineOf, RowError } from "../../imports/records.ts";
import { type ImportPlan, planImport } from "../../operations/catalogue/service-import.ts";
import { readMargins } from "../../db/catalogue/margins.ts";
import type { Margin } from "../../domain/catalogue/margins.ts";
import { MarginText } from "./margins.tsx";
import type { Submission } from "../server/call.ts";
import type { Redirect, View } from "../../web/server/results.ts";
import { Area, Box, Form } from "../../web/components/fields.tsx";
import { FILE, importView, readList, shownAgain, SHOWN_LIMIT } from "../imports/import-rows.tsx";
import { List } from "../../web/components/lists.tsx";
import { shownRefusal } from "../../web/server/refusals.ts";
import { Money, Typed } from "../../web/components/shown.tsx";

const PATH = "/import-services";

export function importPage(): View {
  return view([]);
}

function view(wrong: readonly RowError[]): View {
  return importView(
    "Import services",
    wrong,
    <Form action={PATH} submit="Import the services">
      <Area
        name="csv"
        label="List as CSV"
        hint={`The first line: ${HEADER_FORM.replaceAll(",", ", ")}. All rows are imported, or none.`}
        rows={16}
        required
      />
      <Box
        name="update"
        label="Also change existing services, after showing the changes; columns missing from the list are not changed"
      />
    </Form>,
  );
}

export async function importServices(submission: Submission): Promise<Redirect | View> {
  const { form } = submission;
  const update = form.isChecked("update");
  const { services, places, wrong } = readList(submission, (text) =>
    readCatalogue(FILE, text, { isUpdate: update }),
  );
  const plan = await submission.read((reader) => planImport(reader, services, update));
  const refused = plan.problems.map((problem) => {
    const { message } = shownRefusal(problem as Refusal, form.values);
    const { index } = problem.details;
    return { index, error: new RowError(places[index]!, message.replace(/^Row \d+: /, "")) };
  });
  const all = [...wrong, ...refused.map(({ error }) => error)];
  if (all.length > 0) return shownAgain(submission, PATH, all.toSorted(byLine), view);
  if (update) {
    await submission.confirm({
      title: `Add ${plan.created.length} and change ${counted(plan.updated.length, "service")}`,
      moves: [],
      details: (
        <Changes
          plan={plan}
          margins={await submission.read((reader) =>
            readMargins(
              reader,
              plan.updated.map(({ after }) => after),
            ),
          )}
        />
      ),
      plan: { created: plan.created, updated: plan.updated },
    });
  }
  const { created, updated } = await submission.submit("importServices", { services, update });
  const changed = update ? `, ${updated} changed` : "";
  return { to: "/services", note: `Imported: ${counted(created, "service")}${changed}.` };
}

function byLine(a: RowError, b: RowError): number {
  return lineOf(a.place) - lineOf(b.place);
}

function Changes({
  plan: { created, updated, unchanged },
  margins,
}: {
  plan: ImportPlan;
  /** By id, at the new prices. */
  margins: ReadonlyMap<string, Margin>;
}) {
  const prices = updated.filter(({ before, after }) => before.priceMicros !== after.priceMicros);
  return (
    <>
      <p>
        {unchanged} services do not change. A change made here counts as set by hand: a sync does
        not overwrite it.
      </p>
      <List
        caption="Added"
        rows={created.slice(0, SHOWN_LIMIT)}
        empty="No service is added."
        columns={[
          { heading: "Service", cell: ({ name }) => <Typed text={name} /> },
          {
            heading: "Price USD",
            number: true,
            cell: (each) => <Money micros={each.priceMicros} />,
          },
        ]}
      />
      <List
        caption="New prices"
        rows={prices.slice(0, SHOWN_LIMIT)}
        empty="No price changes."
        columns={[
          { heading: "Service", cell: ({ after }) => <Typed text={after.name} /> },
          {
            heading: "Present price USD",
            number: true,
            cell: ({ before }) => <Money micros={before.priceMicros} />,
          },
          {
            heading: "New price USD",
            number: true,
            cell: ({ after }) => <Money micros={after.priceMicros} />,
          },
          {
            heading: "New margin",
            number: true,
            cell: ({ after }) => <MarginText margin={margins.get(after.id)} />,
          },
        ]}
      />
      <p>{updated.length - prices.length} services change only in other terms.</p>
    </>
  );
}
