// Saved views of the list of orders: filters by a name, for the administrator who saved them.

/** @jsxImportSource preact */

import { useContext } from "preact/hooks";
import type { SavedView } from "../../db/tables/administrators.ts";
import { VIEW_NAME_LIMIT, VIEW_QUERY_LIMIT } from "../../domain/administrators/administrators.ts";
import { Field, Form, Refused } from "../../web/components/fields.tsx";
import { Pop } from "../../web/components/page-head.tsx";
import { Typed } from "../../web/components/shown.tsx";
import type { Redirect } from "../../web/server/results.ts";
import type { Submission } from "../server/call.ts";

const SAVE = "/save-view";

/** The button with the saved views. `query`: the present filters. */
export function SavedViews({ views, query }: { views: readonly SavedView[]; query: string }) {
  const refused = useContext(Refused);
  // A refused form is open, with the filters that it came from.
  const isRefused = refused?.action === SAVE;
  const saved = isRefused ? refused.form.raw("query") : query;
  return (
    <Pop button="Views" atEnd open={isRefused}>
      {views.length === 0 && <p class="hint">Saved filters are listed here.</p>}
      <ul class="found">
        {views.map((view) => (
          <li class="inline">
            <a href={`/orders?${view.query}`}>
              <Typed text={view.name} />
            </a>
            <Form action="/remove-view" hidden={{ name: view.name, query }}>
              <button class="end">
                Remove
                <span class="hidden">
                  {" "}
                  the view <Typed text={view.name} />
                </span>
              </button>
            </Form>
          </li>
        ))}
      </ul>
      {saved !== "" && (
        <Form action={SAVE} hidden={{ query: saved }} submit="Save the view">
          <Field name="name" label="Name of this view" required />
        </Form>
      )}
    </Pop>
  );
}

export async function saveView(submission: Submission): Promise<Redirect> {
  const { form, visitor } = submission;
  const name = form.text("name", VIEW_NAME_LIMIT);
  const query = queryOf(submission);
  if (query === "") form.addError("name", "Set a filter first");
  if (query.length > VIEW_QUERY_LIMIT)
    form.addError("name", "These filters are too long to be saved");
  form.check();
  await submission.submit("saveView", { administrator: visitor.administrator.name, name, query });
  return { to: listAt(query), note: `The view ${name} was saved.` };
}

export async function removeView(submission: Submission): Promise<Redirect> {
  const { form, visitor } = submission;
  const name = form.text("name", VIEW_NAME_LIMIT);
  await submission.submit("removeView", { administrator: visitor.administrator.name, name });
  return { to: listAt(queryOf(submission)), note: `The view ${name} was removed.` };
}

/** Returns the filters that a form sent, without the place in the list. */
function queryOf({ form }: Pick<Submission, "form">): string {
  return withoutPlace(new URLSearchParams(form.raw("query")));
}

/** Returns a query string without the place in the list. */
export function withoutPlace(values: URLSearchParams): string {
  const query = new URLSearchParams([...values].filter(([, value]) => value !== ""));
  query.delete("below");
  query.delete("earlier");
  return String(query);
}

function listAt(query: string): string {
  return query === "" ? "/orders" : `/orders?${query}`;
}
