// The pages of the navigation, in its order. Each is shown to the roles that its route admits.

import { pageAt } from "../../web/server/site.ts";
import type { Link } from "./header.tsx";
import { ROUTES } from "./routes.ts";

const PAGES: readonly (readonly [path: string, text: string])[] = [
  ["/", "Today"],
  ["/orders", "Orders"],
  ["/requests", "Requests"],
  ["/users", "Users"],
  ["/services", "Services"],
  ["/providers", "Providers"],
  ["/reports", "Reports"],
  ["/alerts", "Alerts"],
  ["/audit", "Audit"],
  ["/system", "System"],
  ["/administrators", "Administrators"],
];

/** Returns the navigation of all roles. */
export function links(): Link[] {
  return PAGES.flatMap(([path, text]) => {
    const { role } = pageAt(ROUTES, path);
    return role === "anyone" ? [] : [{ path, text, role }];
  });
}
