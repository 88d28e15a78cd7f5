// Routes of this folder.

import { get, type Route } from "../server/route.ts";
import { importedPage, pastOrderPage } from "./imported.tsx";

export const routes: readonly Route[] = [
  get("/imported", "support", importedPage),
  get("/imported/orders/:order", "support", pastOrderPage),
];
