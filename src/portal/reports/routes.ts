// Routes of this folder.

import { get, type Route } from "../server/route.ts";
import { overviewPage } from "./overview.tsx";

export const routes: readonly Route[] = [get("/", "read", overviewPage)];
