// Routes of this folder.

import { get, type Route } from "../server/route.ts";
import { searchPage } from "./search.tsx";

export const routes: readonly Route[] = [get("/search", "support", searchPage)];
