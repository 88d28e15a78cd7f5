// Routes of this folder.

import { get, type Route } from "../server/route.ts";
import { searchList } from "./search-list.tsx";
import { searchPage } from "./search.tsx";

export const routes: readonly Route[] = [
  get("/search", "support", searchPage),
  get("/search/list", "support", searchList),
];
