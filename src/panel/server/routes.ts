// The panel's routes: one row of this table for everything that the panel answers.
//
// To add a page (panel/administrators/audit.tsx is an example):
// 1. Add its query to db/NOUN.ts: by cursor, with a limit, without HTML.
// 2. Add its file panel/NOUN.tsx, which names the library of JSX as the others do. Its function `Page` reads
//    (`await call.read((reader) => …)`) and returns a View, which is a title and JSX. It takes filters from
//    `call.filters` (the query string) and parameters of the path from `call.params`. For something that does not
//    exist it throws refusal("order_not_found") and the like. No SQL, no `style` attribute, no inline script.
// 3. Add its row here: get(path, the least role, page, its name in the navigation).
// Text that callers typed goes through <Typed> or <TypedLink>, amounts through <Money>, times through <Time>, states
// through <Badge>.
//
// To add an action, add a form to its page, <Form action="/users/alice/credit" submit="Credit"> with its <Field>s,
// and a row here: post(path, the least role, action, the path of the page with the form). The action reads the form
// field by field (`form.amount("amount")`). If money moves, it calls `await submission.confirm({ title, moves })`.
// Then it calls `await submission.submit("creditUser", …)` and returns { to, note }. The action catches nothing:
// after an error the page is shown again with the error beside the field. That applies to wrong fields and to
// refusals by the operation (panel/server/refusals.ts has their words and fields). A role that is too low is refused
// before the action runs; `call.administrator.role` only decides what a page shows.
// A test takes every row of this table: test/panel/server/routes.test.ts.

import type { Role } from "../../domain/administrators/administrators.ts";
import { accountPage, changePassword, endOwnSession } from "../administrators/account.tsx";
import {
  administratorsPage,
  changeRole,
  disable,
  enable,
  endSessionOf,
  invite,
  removeSecondFactorOf,
} from "../administrators/administrators.tsx";
import {
  alertsPage,
  createAlertEndpoint,
  deleteAlertEndpoint,
  testAlertEndpoint,
} from "../webhooks/alerts.tsx";
import { auditPage } from "../administrators/audit.tsx";
import type { Action, Page } from "./call.ts";
import { orderPage } from "../orders/order.tsx";
import { changeOrder, endOrderEarly, noteOrder, progressOrder } from "../orders/order-actions.tsx";
import { decideRequest, requestsPage } from "../orders/order-requests.tsx";
import { settleOrder } from "../orders/order-settlement.tsx";
import { decideLate } from "../orders/late-reports.tsx";
import { changeOrders, ordersPage } from "../orders/orders.tsx";
import { ordersCsv } from "../orders/orders-csv.ts";
import {
  enableSecondFactor,
  offerSecondFactor,
  removeOwnSecondFactor,
  secondFactorPage,
} from "../administrators/second-factor.tsx";
import { createProvider, providersPage } from "../providers/providers.tsx";
import { providerPage, testProvider, updateProvider } from "../providers/provider.tsx";
import {
  activateProvider,
  deactivateProvider,
  deleteProvider,
  pauseProvider,
  resumeProvider,
} from "../providers/provider-states.tsx";
import { syncProvider } from "../providers/provider-sync.tsx";
import { updateSyncs } from "../providers/sync-settings.tsx";
import { reportsCsv, reportsPage } from "../reports/reports.tsx";
import {
  activateService,
  deactivateService,
  deleteService,
  grantService,
  revokeGrant,
  servicePage,
  updateService,
} from "../catalogue/service.tsx";
import { grantsPage, importGrants } from "../catalogue/grant-import.tsx";
import { importPage, importServices } from "../catalogue/service-import.tsx";
import { changePrices } from "../catalogue/service-prices.tsx";
import { putRoute, removeRoute } from "../catalogue/service-routes.tsx";
import { createService, servicesPage } from "../catalogue/services.tsx";
import { grantsCsvPage, servicesCsv } from "../catalogue/services-csv.ts";
import { setUp, setUpPage } from "../administrators/set-up.tsx";
import { makeBackup, systemPage, verifyBackup } from "../reports/system.tsx";
import { codePage, passCode, signIn, signInPage, signOut } from "../administrators/sign-in.tsx";
import { todayPage } from "../reports/today.tsx";
import { userPage } from "../users/user.tsx";
import { activateUser, deactivateUser, eraseUser, renameUser } from "../users/user-account.tsx";
import { adjustBalance } from "../users/user-balance.tsx";
import {
  activateKey,
  createKey,
  deactivateAllKeys,
  deactivateKey,
  rotateKey,
  updateKey,
} from "../users/user-keys.tsx";
import { setDiscount } from "../users/user-discount.tsx";
import { removeOwnPrice, setOwnPrice } from "../users/user-prices.tsx";
import { transactionsCsv, transactionsPage } from "../users/user-transactions.tsx";
import { createUser, usersPage } from "../users/users.tsx";
import { createWebhook } from "../users/user-webhooks.tsx";
import {
  deleteWebhook,
  disableWebhook,
  enableWebhook,
  replayWebhook,
  rotateWebhook,
  testWebhook,
  updateWebhook,
  webhookPage,
} from "../webhooks/webhook.tsx";
import { webhooksPage } from "../webhooks/webhooks.tsx";

/** Least role for a route; `anyone` also includes visitors who are not signed in. */
export type Access = Role | "anyone";

export interface PageRoute {
  method: "GET";
  path: string;
  role: Access;
  page: Page;
  /** Name in the navigation. */
  link?: string;
}

export interface ActionRoute {
  method: "POST";
  path: string;
  role: Access;
  action: Action;
  /** Path of the page with the form. */
  back: string;
}

export type Route = PageRoute | ActionRoute;

export const ROUTES: readonly Route[] = [
  get("/sign-in", "anyone", signInPage),
  post("/sign-in", "anyone", signIn, "/sign-in"),
  get("/sign-in/code", "anyone", codePage),
  post("/sign-in/code", "anyone", passCode, "/sign-in/code"),
  post("/sign-out", "anyone", signOut, "/sign-in"),
  get("/setup", "anyone", setUpPage),
  post("/setup", "anyone", setUp, "/setup"),

  get("/", "support", todayPage, "Today"),
  get("/orders", "support", ordersPage, "Orders"),
  get("/orders.csv", "support", ordersCsv),
  post("/orders/change", "operator", changeOrders, "/orders"),
  get("/orders/:order", "support", orderPage),
  post("/orders/:order/change", "operator", changeOrder, "/orders/:order"),
  post("/orders/:order/partial", "operator", endOrderEarly, "/orders/:order"),
  post("/orders/:order/progress", "operator", progressOrder, "/orders/:order"),
  post("/orders/:order/settle", "operator", settleOrder, "/orders/:order"),
  post("/orders/:order/late", "operator", decideLate, "/orders/:order"),
  post("/orders/:order/note", "support", noteOrder, "/orders/:order"),
  get("/requests", "support", requestsPage, "Requests"),
  post("/requests/:request", "operator", decideRequest, "/requests"),
  get("/users", "support", usersPage, "Users"),
  post("/users", "operator", createUser, "/users"),
  get("/users/:user", "support", userPage),
  post("/users/:user/balance", "owner", adjustBalance, "/users/:user"),
  post("/users/:user/discount", "operator", setDiscount, "/users/:user"),
  post("/users/:user/rename", "operator", renameUser, "/users/:user"),
  post("/users/:user/deactivate", "operator", deactivateUser, "/users/:user"),
  post("/users/:user/activate", "operator", activateUser, "/users/:user"),
  post("/users/:user/erase", "owner", eraseUser, "/users/:user"),
  get("/users/:user/transactions", "support", transactionsPage),
  get("/users/:user/transactions.csv", "support", transactionsCsv),
  post("/users/:user/keys", "operator", createKey, "/users/:user"),
  post("/users/:user/keys/deactivate-all", "operator", deactivateAllKeys, "/users/:user"),
  post("/users/:user/keys/:key/update", "operator", updateKey, "/users/:user"),
  post("/users/:user/keys/:key/rotate", "operator", rotateKey, "/users/:user"),
  post("/users/:user/keys/:key/activate", "operator", activateKey, "/users/:user"),
  post("/users/:user/keys/:key/deactivate", "operator", deactivateKey, "/users/:user"),
  post("/users/:user/webhooks", "operator", createWebhook, "/users/:user"),
  get("/users/:user/webhooks/:webhook", "support", webhookPage),
  ofWebhook("", updateWebhook),
  ofWebhook("/test", testWebhook),
  ofWebhook("/rotate", rotateWebhook),
  ofWebhook("/enable", enableWebhook),
  ofWebhook("/disable", disableWebhook),
  ofWebhook("/delete", deleteWebhook),
  ofWebhook("/replay", replayWebhook),
  post("/users/:user/prices", "operator", setOwnPrice, "/users/:user"),
  post("/users/:user/prices/remove", "operator", removeOwnPrice, "/users/:user"),

  get("/services", "support", servicesPage, "Services"),
  get("/services.csv", "support", servicesCsv),
  get("/grants.csv", "support", grantsCsvPage),
  post("/services", "operator", createService, "/services"),
  post("/service-prices", "operator", changePrices, "/services"),
  get("/import-services", "operator", importPage),
  post("/import-services", "operator", importServices, "/import-services"),
  get("/import-grants", "operator", grantsPage),
  post("/import-grants", "operator", importGrants, "/import-grants"),
  get("/services/:service", "support", servicePage),
  post("/services/:service", "operator", updateService, "/services/:service"),
  post("/services/:service/activate", "operator", activateService, "/services/:service"),
  post("/services/:service/deactivate", "operator", deactivateService, "/services/:service"),
  post("/services/:service/delete", "operator", deleteService, "/services/:service"),
  post("/services/:service/grants", "operator", grantService, "/services/:service"),
  post("/services/:service/grants/revoke", "operator", revokeGrant, "/services/:service"),
  post("/services/:service/routes", "operator", putRoute, "/services/:service"),
  post("/services/:service/routes/remove", "operator", removeRoute, "/services/:service"),

  get("/providers", "support", providersPage, "Providers"),
  post("/providers", "operator", createProvider, "/providers"),
  get("/providers/:provider", "support", providerPage),
  post("/providers/:provider", "operator", updateProvider, "/providers/:provider"),
  post("/providers/:provider/test", "operator", testProvider, "/providers/:provider"),
  post("/providers/:provider/sync", "operator", syncProvider, "/providers/:provider"),
  post("/providers/:provider/syncs", "operator", updateSyncs, "/providers/:provider"),
  post("/providers/:provider/activate", "operator", activateProvider, "/providers/:provider"),
  post("/providers/:provider/deactivate", "operator", deactivateProvider, "/providers/:provider"),
  post("/providers/:provider/pause", "operator", pauseProvider, "/providers/:provider"),
  post("/providers/:provider/resume", "operator", resumeProvider, "/providers/:provider"),
  post("/providers/:provider/delete", "operator", deleteProvider, "/providers/:provider"),

  get("/reports", "support", reportsPage, "Reports"),
  get("/reports.csv", "support", reportsCsv),

  get("/alerts", "support", alertsPage, "Alerts"),
  post("/alerts", "owner", createAlertEndpoint, "/alerts"),
  post("/alerts/:endpoint/test", "owner", testAlertEndpoint, "/alerts"),
  post("/alerts/:endpoint/delete", "owner", deleteAlertEndpoint, "/alerts"),

  get("/audit", "support", auditPage, "Audit"),

  get("/webhooks", "support", webhooksPage),

  get("/system", "support", systemPage, "System"),
  post("/system/backups", "owner", makeBackup, "/system"),
  post("/system/backups/verify", "owner", verifyBackup, "/system"),

  get("/administrators", "owner", administratorsPage, "Administrators"),
  post("/administrators", "owner", invite, "/administrators"),
  post("/administrators/sessions", "owner", endSessionOf, "/administrators"),
  post("/administrators/:name/role", "owner", changeRole, "/administrators"),
  post("/administrators/:name/disable", "owner", disable, "/administrators"),
  post("/administrators/:name/enable", "owner", enable, "/administrators"),
  post("/administrators/:name/second-factor", "owner", removeSecondFactorOf, "/administrators"),

  get("/account", "support", accountPage),
  post("/account/password", "support", changePassword, "/account"),
  post("/account/sessions", "support", endOwnSession, "/account"),
  get("/account/second-factor", "support", secondFactorPage),
  post("/account/second-factor/offer", "support", offerSecondFactor, "/account/second-factor"),
  post("/account/second-factor/enable", "support", enableSecondFactor, "/account/second-factor"),
  post("/account/second-factor/remove", "support", removeOwnSecondFactor, "/account/second-factor"),
];

/** Returns the page of a path, where the form of an action is. */
export function pageAt(path: string): PageRoute {
  const found = ROUTES.find((route) => route.path === path && route.method === "GET");
  if (found?.method !== "GET") throw new Error(`no page has the path ${path}`);
  return found;
}

function get(path: string, role: Access, page: Page, link?: string): PageRoute {
  return { method: "GET", path, role, page, ...(link === undefined ? {} : { link }) };
}

function post(path: string, role: Access, action: Action, back: string): ActionRoute {
  return { method: "POST", path, role, action, back };
}

function ofWebhook(path: string, action: Action): ActionRoute {
  const page = "/users/:user/webhooks/:webhook";
  return post(page + path, "operator", action, page);
}
