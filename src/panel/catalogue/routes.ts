// Routes of this folder.

import { get, post, type Route } from "../server/route.ts";
import { grantsPage, importGrants } from "./grant-import.tsx";
import { importPage, importServices } from "./service-import.tsx";
import { changePrices } from "./service-prices.tsx";
import { putRoute, removeRoute } from "./service-routes.tsx";
import {
  activateService,
  deactivateService,
  deleteService,
  grantService,
  revokeGrant,
  servicePage,
  updateService,
} from "./service.tsx";
import { switchServices } from "./service-switches.tsx";
import { grantsCsvPage, servicesCsv } from "./services-csv.ts";
import { createService, servicesPage } from "./services.tsx";

export const routes: readonly Route[] = [
  get("/services", "support", servicesPage),
  get("/services.csv", "support", servicesCsv),
  get("/grants.csv", "support", grantsCsvPage),
  post("/services", "operator", createService, "/services"),
  post("/service-prices", "operator", changePrices, "/services"),
  post("/service-states", "operator", switchServices, "/services"),
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
];
