// Routes of this folder.

import { get, type Route } from "../server/route.ts";
import { servicesCsv, servicesPage } from "./services.tsx";

export const routes: readonly Route[] = [
  get("/services", "read", servicesPage),
  get("/services.csv", "read", servicesCsv),
];
