// Common parts of the list imports: the wrong rows, and the form again with what was sent.

/** @jsxImportSource preact */

import type { ComponentChildren } from "preact";
import { countedWrong } from "../../domain/values/text.ts";
import { FileError, RowError } from "../../imports/records.ts";
import type { Submission } from "../server/call.ts";
import type { View } from "../../web/server/results.ts";
import { Refused } from "../../web/components/fields.tsx";
import { List } from "../../web/components/lists.tsx";
import { Typed } from "../../web/components/shown.tsx";

/** The file name in the place of a row, such as `list.csv, line 7`. Pages do not show it. */
export const FILE = "list.csv";
export const SHOWN_LIMIT = 200;

/** Returns the page of an import: the wrong rows of the last try, and below them `form` for the list. */
export function importView(
  title: string,
  wrong: readonly RowError[],
  form: ComponentChildren,
): View {
  return {
    title,
    body: (
      <>
        <h1>{title}</h1>
        {wrong.length > 0 && (
          <>
            <h2>Wrong rows</h2>
            <List
              caption="Wrong rows"
              rows={wrong.slice(0, SHOWN_LIMIT)}
              empty=""
              columns={[
                { heading: "Row", cell: ({ place }) => place.replace(`${FILE}, `, "") },
                { heading: "Problem", cell: ({ problem }) => <Typed text={problem} /> },
              ]}
            />
            <More count={wrong.length} />
          </>
        )}
        {form}
      </>
    ),
  };
}

/** Says how many entries of a long list are not shown. */
export function More({ count }: { count: number }) {
  return count > SHOWN_LIMIT ? <p>And {count - SHOWN_LIMIT} more.</p> : null;
}

/** Parses the list that was sent. Throws FormError for an error in the list as a whole. */
export function readList<T>({ form }: Submission, read: (text: string) => T): T {
  const text = form.values.get("csv") ?? "";
  if (text.trim() === "") form.addError("csv", "csv is required");
  form.check();
  try {
    return read(text);
  } catch (error) {
    if (!(error instanceof FileError || error instanceof RowError)) throw error;
    form.addError("csv", error.message.replace(FILE, "The list"));
    form.check();
    throw error;
  }
}

/** Returns the page again with the wrong rows. `view` makes the page; what was sent is in its field. */
export function shownAgain(
  { form }: Submission,
  action: string,
  wrong: readonly RowError[],
  view: (wrong: readonly RowError[]) => View,
): View {
  form.addError("csv", `${countedWrong(wrong.length)}: nothing was imported`);
  const { title, body } = view(wrong);
  return {
    title,
    body: <Refused.Provider value={{ action, form }}>{body}</Refused.Provider>,
    status: 422,
  };
}
