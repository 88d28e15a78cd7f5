// Import of grants, resellers' own prices: all rows of a list or, if one is wrong, none; every row that is wrong is shown.

/** @jsxImportSource preact */

import { type GrantProblem, Refusal, refusal } from "../domain/refusals.ts";
import { FileError, RowError } from "../imports/catalogue.ts";
import { type GrantList, GRANTS_HEADER, readGrants, wrongGrants } from "../imports/grants.ts";
import { type GrantTerms, refusedGrants } from "../operations/grants.ts";
import type { Redirect, Submission, View } from "./call.ts";
import { Area, Form, Refused } from "./fields.tsx";
import { List } from "./lists.tsx";
import { shownRefusal } from "./refusals.ts";
import { Money, Typed } from "./shown.tsx";

/** Names the rows: `line 7`. */
const FILE = "list.csv";
const PATH = "/import-grants";
const TITLE = "Import resellers' prices";
const SHOWN_LIMIT = 200;

export function grantsPage(): View {
  return view([]);
}

function view(wrong: readonly RowError[]): View {
  return {
    title: TITLE,
    body: (
      <>
        <h1>{TITLE}</h1>
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
            <More count={wrong.length} />
          </>
        )}
        <Form action={PATH} submit="Look at them first">
          <Area
            name="csv"
            label="Grants as CSV"
            hint={`The first line: ${GRANTS_HEADER.replaceAll(",", ", ")}. Each row replaces the grant that is there; an empty price is the service's own. All rows are imported, or none.`}
            rows={16}
            required
          />
        </Form>
      </>
    ),
  };
}

export async function importGrants(submission: Submission): Promise<Redirect | View> {
  const { form } = submission;
  const text = form.values.get("csv") ?? "";
  if (text.trim() === "") form.note("csv", "csv is required");
  form.check();
  const list = listIn(submission, text);
  const { grants } = list;
  const again = (refused: readonly GrantProblem[]) => {
    const sentenceOf = (code: GrantProblem["code"]) =>
      shownRefusal(refusal(code), form.values).message;
    return shownAgain(submission, wrongGrants(list, refused, sentenceOf));
  };
  if (list.wrong.length > 0) {
    return again(await submission.read((reader) => refusedGrants(reader, grants)));
  }
  await submission.confirm({
    title: `Set ${countOf(grants.length)}`,
    moves: [],
    details: <Grants grants={grants} />,
    plan: grants,
  });
  try {
    const { imported, unchanged } = await submission.submit("importGrants", { grants });
    const note = `${countOf(imported)} set, ${unchanged} were so before.`;
    return { to: "/services", note };
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== "grants_invalid") throw error;
    return again((error as Refusal<"grants_invalid">).details.rows);
  }
}

function Grants({ grants }: { grants: readonly GrantTerms[] }) {
  return (
    <>
      <List
        caption="Grants"
        rows={grants.slice(0, SHOWN_LIMIT)}
        empty=""
        columns={[
          { heading: "Service", cell: ({ id }) => <code>{id}</code> },
          { heading: "User", cell: ({ username }) => <Typed text={username} /> },
          {
            heading: "Price USD",
            number: true,
            cell: ({ priceMicros }) =>
              priceMicros === null ? "the service's" : <Money micros={priceMicros} />,
          },
        ]}
      />
      <More count={grants.length} />
    </>
  );
}

function More({ count }: { count: number }) {
  return count > SHOWN_LIMIT ? <p>And {count - SHOWN_LIMIT} more.</p> : null;
}

function countOf(grants: number): string {
  return grants === 1 ? "1 grant" : `${grants} grants`;
}

function listIn({ form }: Submission, text: string): GrantList {
  try {
    return readGrants(FILE, text);
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
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
