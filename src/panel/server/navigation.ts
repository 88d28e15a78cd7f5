// The pages of the navigation, in its order. Each is shown to the roles that its route admits.

import { pageAt } from "../../web/server/site.ts";
import type { Link } from "./header.tsx";
import { ROUTES } from "./routes.ts";

/** `also`: paths of pages that belong to it, too. */
type Entry = readonly [path: string, text: string, also?: readonly string[]];

const DAILY: readonly Entry[] = [
  ["/", "Today"],
  ["/orders", "Orders"],
  ["/requests", "Requests"],
  ["/users", "Resellers"],
  ["/members", "Members"],
  ["/payments", "Payments"],
  ["/services", "Catalogue"],
  ["/providers", "Providers"],
  ["/reports", "Reports", ["/transactions", "/invoices"]],
];

const SETTINGS: readonly Entry[] = [
  ["/alerts", "Alerts"],
  ["/audit", "Audit"],
  ["/imported", "Moving in"],
  ["/system", "System"],
  ["/administrators", "Administrators"],
];

/** The navigation of all roles. */
export interface Links {
  daily: readonly Link[];
  settings: readonly Link[];
}

export function links(): Links {
  return { daily: linksOf(DAILY), settings: linksOf(SETTINGS) };
}

function linksOf(entries: readonly Entry[]): Link[] {
  return entries.flatMap(([path, text, also = []]) => {
    const { role } = pageAt(ROUTES, path);
    return role === "anyone" ? [] : [{ path, text, role, also }];
  });
}
