// The panel's routes: everything that the panel answers. Each folder exports its rows.
//
// To add a page (panel/administrators/audit.tsx is an example):
// 1. Add its query to src/db/FOLDER/SUBJECT.ts: by cursor, with a limit, without HTML.
// 2. Add its file to the folder of its subject, with the line `@jsxImportSource preact` as in the others. Its function
//    `Page` reads (`await call.read((reader) => …)`) and returns a View, which is a title and JSX. It takes filters
//    from `call.filters` (the query string) and parameters of the path from `call.params`. For something that does not
//    exist it throws refusal("order_not_found") and the like. No SQL, no `style` attribute, no inline script.
// 3. Add its row to `routes` of the folder: get(path, the least role, page); to navigation.ts if it belongs there.
// Text that callers typed goes through <Typed> or <TypedLink>, amounts through <Money>, times through <Time>, states
// through <Badge>.
//
// To add an action, add a form to its page, <Form action="/users/alice/credit" submit="Credit"> with its <Field>s,
// and a row: post(path, the least role, action, the path of the page with the form). The action reads the form
// field by field (`form.amount("amount")`). If money moves, it calls `await submission.confirm({ title, moves })`.
// Then it calls `await submission.submit("creditUser", …)` and returns { to, note }. The action catches nothing:
// after an error the page is shown again with the error beside the field. That applies to wrong fields and to
// refusals by the operation (domain/values/error-table.ts has their words and fields). A role that is too low is refused
// before the action runs; `call.visitor.administrator.role` only decides what a page shows.
// A test takes every row of this table: test/panel/server/routes.test.ts.

import { routes as administrators } from "../administrators/routes.ts";
import { routes as catalogue } from "../catalogue/routes.ts";
import { routes as ledger } from "../ledger/routes.ts";
import { routes as imports } from "../imports/routes.ts";
import { routes as mails } from "../mails/routes.ts";
import { routes as members } from "../members/routes.ts";
import { routes as orders } from "../orders/routes.ts";
import { routes as payments } from "../payments/routes.ts";
import { routes as providers } from "../providers/routes.ts";
import { routes as reports } from "../reports/routes.ts";
import { routes as search } from "../search/routes.ts";
import { routes as users } from "../users/routes.ts";
import { routes as webhooks } from "../webhooks/routes.ts";
import type { Route } from "./route.ts";

export const ROUTES: readonly Route[] = [
  ...administrators,
  ...reports,
  ...ledger,
  ...payments,
  ...orders,
  ...users,
  ...members,
  ...mails,
  ...catalogue,
  ...providers,
  ...webhooks,
  ...imports,
  ...search,
];
