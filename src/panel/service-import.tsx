// Import of services: all rows of a list or, if one is wrong, none; every row that is wrong is shown.

/** @jsxImportSource preact */

import { Refusal } from "../domain/refusals.ts";
import {
  type Catalogue,
  FileError,
  HEADER_FORM,
  readCatalogue,
  RowError,
} from "../imports/catalogue.ts";
import type { Redirect, Submission, View } from "./call.ts";
import { Area, Form, Refused } from "./fields.tsx";
import { List } from "./lists.tsx";
import { shownRefusal } from "./refusals.ts";
import { Typed } from "./shown.tsx";

/** Names the rows: `line 7`. */
const FILE = "list.csv";
const PATH = "/import-services";
const SHOWN_LIMIT = 200;

export function importPage(): View {
  return view([]);
}

function view(wrong: readonly RowError[]): View {
  const more = wrong.length - SHOWN_LIMIT;
  return {
    title: "Import services",
    body: (
      <>
        <h1>Import services</h1>
        {wrong.length > 0 && (
          <>
            <h2>Rows that are wrong</h2>
            <List
              caption="Rows that are wrong"
              rows={wrong.slice(0, SHOWN_LIMIT)}
              empty=""
              columns={[
                { heading: "Row", cell: ({ place }) => place.replace(`${FILE}, `, "") },
                { heading: "What is wrong", cell: ({ problem }) => <Typed text={problem} /> },
              ]}
            />
            {more > 0 && <p>And {more} more.</p>}
          </>
        )}
        <Form action={PATH} submit="Import all of them">
          <Area
            name="csv"
            label="List as CSV"
            hint={`The first line: ${HEADER_FORM.replaceAll(",", ", ")}. All rows are imported, or none.`}
            rows={16}
            required
          />
        </Form>
      </>
    ),
  };
}

export async function importServices(submission: Submission): Promise<Redirect | View> {
  const { form } = submission;
  const text = form.values.get("csv") ?? "";
  if (text.trim() === "") form.note("csv", "csv is required");
  form.check();
  const catalogue = catalogueOf(submission, text);
  const { services, places, wrong } = catalogue;
  if (wrong.length > 0) return shownAgain(submission, wrong);
  try {
    const count = await submission.submit("importServices", { services });
    return { to: "/services", note: `${count} services were imported.` };
  } catch (error) {
    if (!isOfRow(error)) throw error;
    const { message } = shownRefusal(error, form.values);
    const problem = message.replace(/^Row \d+: /, "");
    return shownAgain(submission, [new RowError(places[error.details.index]!, problem)]);
  }
}

function isOfRow(error: unknown): error is Refusal<"import_id_taken" | "import_provider_unknown"> {
  if (!(error instanceof Refusal)) return false;
  return error.code === "import_id_taken" || error.code === "import_provider_unknown";
}

function catalogueOf({ form }: Submission, text: string): Catalogue {
  try {
    return readCatalogue(FILE, text);
  } catch (error) {
    if (!(error instanceof FileError || error instanceof RowError)) throw error;
    form.note("csv", error.message.replace(FILE, "The list"));
    form.check();
    throw error;
  }
}

/** With what was sent in its field. */
function shownAgain({ form }: Submission, wrong: readonly RowError[]): View {
  const rows = wrong.length === 1 ? "A row is wrong" : `${wrong.length} rows are wrong`;
  form.note("csv", `${rows}: nothing was imported`);
  const { title, body } = view(wrong);
  const again = <Refused.Provider value={{ action: PATH, form }}>{body}</Refused.Provider>;
  return { title, body: again, status: 422 };
}
