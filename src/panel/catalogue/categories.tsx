// The order of categories in lists of the catalogue.

/** @jsxImportSource preact */

import { listCategories } from "../../db/catalogue/category-order.ts";
import { mayAct } from "../../domain/administrators/administrators.ts";
import { CATEGORY } from "../../domain/values/kinds.ts";
import { showHidden } from "../../domain/values/text.ts";
import { Form } from "../../web/components/fields.tsx";
import { List } from "../../web/components/lists.tsx";
import { PageHead } from "../../web/components/page-head.tsx";
import { Typed } from "../../web/components/shown.tsx";
import type { Redirect, View } from "../../web/server/results.ts";
import type { Call, Submission } from "../server/call.ts";

const PATH = "/categories";
const MOVES = ["first", "up", "down"] as const;
type Move = (typeof MOVES)[number];

export async function categoriesPage(call: Call): Promise<View> {
  const categories = await call.read(listCategories);
  const mayChange = mayAct(call.visitor.administrator.role, "operator");
  const rows = categories.map((category, at) => ({ ...category, at }));
  return {
    title: "Order of categories",
    body: (
      <>
        <PageHead title="Order of categories">
          {mayChange && rows.length > 0 && (
            <span class="inline end">
              <Form action={`${PATH}/by-name`}>
                <button>Order by name</button>
              </Form>
            </span>
          )}
        </PageHead>
        <p>The catalogue here and the lists of resellers' panels show them in this order.</p>
        <List
          caption="Categories, in their order"
          rows={rows}
          empty="No services yet."
          columns={[
            { heading: "Place", number: true, cell: ({ at }) => at + 1 },
            {
              heading: "Category",
              place: "title",
              cell: ({ category }) => <Typed text={category} />,
            },
            { heading: "Services", number: true, place: "end", cell: ({ services }) => services },
            ...(mayChange
              ? [
                  {
                    heading: "Move",
                    place: "first" as const,
                    cell: ({ category, at }: (typeof rows)[number]) => (
                      <Form action={PATH} hidden={{ category }}>
                        {MOVES.map((move) => (
                          <button
                            name="move"
                            value={move}
                            disabled={move === "down" ? at === rows.length - 1 : at === 0}
                            aria-label={`${VERBS[move]}: ${showHidden(category)}`}
                          >
                            {VERBS[move]}
                          </button>
                        ))}
                      </Form>
                    ),
                  },
                ]
              : []),
          ]}
        />
      </>
    ),
  };
}

const VERBS: Record<Move, string> = { first: "To the top", up: "Up", down: "Down" };

/** Moves a category. From then on all present categories have a place. */
export async function moveCategory(submission: Submission): Promise<Redirect> {
  const { form } = submission;
  const category = form.required("category", CATEGORY, "");
  const move = form.choice("move", MOVES);
  form.check();
  const order = (await submission.read(listCategories)).map((each) => each.category);
  const from = order.indexOf(category);
  if (from < 0) form.addError("", "The category has no services any more");
  form.check();
  const to = { first: 0, up: Math.max(from - 1, 0), down: from + 1 }[move];
  const categories = order.toSpliced(from, 1).toSpliced(to, 0, category);
  await submission.submit("orderCategories", { categories });
  return { to: PATH };
}

export async function orderByName(submission: Submission): Promise<Redirect> {
  await submission.submit("orderCategories", { categories: [] });
  return { to: PATH, note: "Categories are listed by name." };
}
