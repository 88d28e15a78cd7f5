// Routes of this folder.

import { get, post, type Route } from "../server/route.ts";
import {
  activateProvider,
  deactivateProvider,
  deleteProvider,
  pauseProvider,
  resumeProvider,
} from "./provider-states.tsx";
import { updateHold } from "./fund-holds.tsx";
import { syncProvider } from "./provider-sync.tsx";
import { refreshBalances } from "./provider-balances.tsx";
import {
  providerPage,
  providerPricesPage,
  providerSettingsPage,
  testProvider,
  updateProvider,
} from "./provider.tsx";
import { createProvider, providersPage } from "./providers.tsx";
import { updateSyncs } from "./sync-settings.tsx";
import { searchUnknown, unknownOrdersPage } from "./unknown-orders.tsx";
import { settleUnknown } from "./unknown-settlement.tsx";

export const routes: readonly Route[] = [
  get("/providers", "support", providersPage),
  post("/providers", "operator", createProvider, "/providers"),
  post("/provider-balances", "operator", refreshBalances, "/providers"),
  get("/providers/:provider", "support", providerPage),
  get("/providers/:provider/prices", "support", providerPricesPage),
  get("/providers/:provider/settings", "operator", providerSettingsPage),
  post("/providers/:provider", "operator", updateProvider, "/providers/:provider/settings"),
  post("/providers/:provider/test", "operator", testProvider, "/providers/:provider"),
  post("/providers/:provider/sync", "operator", syncProvider, "/providers/:provider/prices"),
  post("/providers/:provider/syncs", "operator", updateSyncs, "/providers/:provider/prices"),
  post("/providers/:provider/hold", "operator", updateHold, "/providers/:provider/settings"),
  post("/providers/:provider/activate", "operator", activateProvider, "/providers/:provider"),
  post("/providers/:provider/deactivate", "operator", deactivateProvider, "/providers/:provider"),
  post("/providers/:provider/pause", "operator", pauseProvider, "/providers/:provider"),
  post("/providers/:provider/resume", "operator", resumeProvider, "/providers/:provider"),
  get("/providers/:provider/unknown", "support", unknownOrdersPage),
  post("/providers/:provider/unknown", "operator", searchUnknown, "/providers/:provider/unknown"),
  post(
    "/providers/:provider/unknown/settle",
    "operator",
    settleUnknown,
    "/providers/:provider/unknown",
  ),
  post("/providers/:provider/delete", "operator", deleteProvider, "/providers/:provider"),
];
