// Routes of this folder.

import { get, type Route } from "../server/route.ts";
import { childUsersPage } from "./child-users.tsx";

export const routes: readonly Route[] = [get("/users", "read", childUsersPage)];
