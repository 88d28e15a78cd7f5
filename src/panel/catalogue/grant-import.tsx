// Import of grants, which are resellers' own prices: all rows of a list, or none if one is wrong. Every wrong row is
// shown.

/** @jsxImportSource preact */

import { Refusal, refusal } from "../../domain/values/error-table.ts";
import type { GrantProblem } from "../../domain/catalogue/refusals.ts";
import { counted } from "../../domain/values/text.ts";
import { type RowError, wrongRows } from "../../imports/records.ts";
import { GRANTS_HEADER, readGrants } from "../../imports/grants.ts";
import { type GrantTerms, refusedGrants } from "../../operations/catalogue/grants.ts";
import type { Submission } from "../server/call.ts";
import type { Redirect, View } from "../../web/server/results.ts";
import { Area, Form } from "../../web/components/fields.tsx";
import {
  FILE,
  importView,
  More,
  readList,
  shownAgain,
  SHOWN_LIMIT,
} from "../imports/import-rows.tsx";
import { List } from "../../web/components/lists.tsx";
import { shownRefusal } from "../../web/server/refusals.ts";
import { Money, Typed } from "../../web/components/shown.tsx";

const PATH = "/import-grants";
const TITLE = "Import resellers' prices";

export function grantsPage(): View {
  return view([]);
}

function view(wrong: readonly RowError[]): View {
  return importView(
    TITLE,
    wrong,
    <Form action={PATH} submit="Preview the prices">
      <Area
        name="csv"
        label="Grants as CSV"
        hint={`The first line: ${GRANTS_HEADER.replaceAll(",", ", ")}. Each row replaces the existing grant; an empty price means the service's own price. All rows are imported, or none.`}
        rows={16}
        required
      />
    </Form>,
  );
}

export async function importGrants(submission: Submission): Promise<Redirect | View> {
  const { form } = submission;
  const list = readList(submission, (text) => readGrants(FILE, text));
  const { grants } = list;
  const again = (refused: readonly GrantProblem[]) => {
    const sentenceOf = (code: GrantProblem["code"]) =>
      shownRefusal(refusal(code), form.values).message;
    return shownAgain(submission, PATH, wrongRows(list, refused, sentenceOf), view);
  };
  if (list.wrong.length > 0) {
    return again(await submission.read((reader) => refusedGrants(reader, grants)));
  }
  await submission.confirm({
    title: `Set ${counted(grants.length, "grant")}`,
    moves: [],
    details: <Grants grants={grants} />,
    plan: grants,
  });
  try {
    const { imported, unchanged } = await submission.submit("importGrants", { grants });
    const note = `${counted(imported, "grant")} set, ${unchanged} unchanged.`;
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
