// The portal's routes: everything that the portal answers. Each folder exports its rows.
//
// To add a page (portal/orders/orders.tsx is an example):
// 1. Find or add its query in src/db/FOLDER/SUBJECT.ts: by the account of the reseller, with a limit, at a constant cost.
// 2. Add its file to the folder of its subject, with the line `@jsxImportSource preact` as in the others. Its function
//    `Page` reads (`await call.read((reader) => …)`) and returns a View, which is a title and JSX. It shows only what
//    belongs to `call.visitor.account`: for an object of another reseller it throws the same refusal as for none, such as
//    refusal("order_not_found"). Paths are written without the prefix of the portal (`href="/orders"`).
// 3. Add its row to `routes` of the folder: get(path, the permission, page); to navigation.ts if it belongs there.
// 4. Every word comes from the catalogue: add it to texts/en.ts and to the other languages, and use it by
//    `const { t } = call.visitor`: t("orders.title"). A text with {count} may have plural forms. Amounts, numbers, dates
//    and times come from `call.visitor.formats`, times on pages from <Time>, states from <Status> (parts/shown.tsx), text
//    that people typed from <Typed> or <TypedLink>.
//
// To add an action, add a form to its page, <Form action="/keys" submit={t("keys.create")}> with its <Field>s, and a row:
// post(path, the permission, action, the path of the page with the form). The action reads the form field by field
// (`form.required("label", KEY_LABEL, "")`), calls `await submission.submit("createOwnKey", …)` and returns { to, note }.
// The operation runs in the member's name: it begins with requireActingMember(tx, actor, permission) and takes everything
// else from the account that this returns, which is that of the side (operations/members/acting.ts). The action catches nothing: the
// page is shown again with the error beside the field. Texts of refusals: `refusal.CODE` in the catalogue.
// A test takes every row of this table: test/portal/server/routes.test.ts. Add there the ids that a new path needs.

import { routes as catalogue } from "../catalogue/routes.ts";
import { routes as ledger } from "../ledger/routes.ts";
import { routes as members } from "../members/routes.ts";
import { routes as orders } from "../orders/routes.ts";
import { routes as payments } from "../payments/routes.ts";
import { routes as reports } from "../reports/routes.ts";
import { routes as users } from "../users/routes.ts";
import { routes as webhooks } from "../webhooks/routes.ts";
import type { Route } from "./route.ts";

export const ROUTES: readonly Route[] = [
  ...reports,
  ...orders,
  ...catalogue,
  ...ledger,
  ...payments,
  ...users,
  ...webhooks,
  ...members,
];

/** The paths that the test side leads to on the live side: test money cannot be bought, so it has no invoices. */
export const LIVE_PATHS: ReadonlySet<string> = new Set([
  ...payments.map(({ path }) => path),
  "/invoices",
  "/invoices/:invoice",
]);
