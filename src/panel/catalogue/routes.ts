// Routes of this folder.

import { get, post, type Route } from "../server/route.ts";
import { categoriesPage, moveCategory, orderByName } from "./categories.tsx";
import { grantsPage, importGrants } from "./grant-import.tsx";
import { importPage, importServices } from "./service-import.tsx";
import { createService, newServicePage } from "./new-service.tsx";
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
import { servicesPage } from "./services.tsx";

export const routes: readonly Route[] = [
  get("/services", "support", servicesPage),
  get("/services.csv", "support", servicesCsv),
  get("/grants.csv", "support", grantsCsvPage),
  get("/new-service", "operator", newServicePage),
  post("/services", "operator", createService, "/new-service"),
  get("/categories", "support", categoriesPage),
  post("/categories", "operator", moveCategory, "/categories"),
  post("/categories/by-name", "operator", orderByName, "/categories"),
  post("/service-prices", "operator", changePrices, "/services"),
  post("/service-prices/all", "operator", changePrices, "/services"),
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
