// Routes of this folder.

import { get, post, type Route } from "../server/route.ts";
import { reportsCsv, reportsPage } from "./reports.tsx";
import { makeBackup, systemPage, verifyBackup } from "./system.tsx";
import { todayPage } from "./today.tsx";

export const routes: readonly Route[] = [
  get("/", "support", todayPage),
  get("/reports", "support", reportsPage),
  get("/reports.csv", "support", reportsCsv),
  get("/system", "support", systemPage),
  post("/system/backups", "owner", makeBackup, "/system"),
  post("/system/backups/verify", "owner", verifyBackup, "/system"),
];
