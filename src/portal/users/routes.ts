// Routes of this folder.

import { get, post, type Route } from "../server/route.ts";
import { apiPage } from "./api.tsx";
import { childUsersPage } from "./child-users.tsx";
import { createKey, deactivateKey, rotateKey } from "./keys.tsx";
import { enterTestMode } from "./test-mode.ts";

export const routes: readonly Route[] = [
  post("/test-mode", "keys", enterTestMode, "/api"),
  get("/users", "read", childUsersPage),
  get("/api", "keys", apiPage),
  post("/api/keys", "keys", createKey, "/api"),
  post("/api/keys/:key/rotate", "keys", rotateKey, "/api"),
  post("/api/keys/:key/deactivate", "keys", deactivateKey, "/api"),
];
