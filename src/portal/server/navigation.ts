// The pages of the navigation, in its order. Each is shown to the members whose role its route admits.

import type { MemberPermission } from "../../domain/members/members.ts";
import { pageAt } from "../../web/server/site.ts";
import type { Key } from "../texts/catalogue.ts";
import { ROUTES } from "./routes.ts";

type Text = Extract<Key, `nav.${string}`>;

/** `also`: paths of pages that belong to it, too. */
const PAGES: readonly (readonly [path: string, text: Text, also?: readonly string[]])[] = [
  ["/", "nav.overview"],
  ["/new-order", "nav.newOrder", ["/new-orders"]],
  ["/orders", "nav.orders"],
  ["/services", "nav.services"],
  ["/balance", "nav.balance", ["/payments", "/add-funds", "/invoices"]],
  ["/users", "nav.users"],
  ["/members", "nav.members"],
  ["/api", "nav.api"],
  ["/settings", "nav.settings"],
];

export interface Link {
  path: string;
  text: Text;
  also: readonly string[];
  permission: MemberPermission;
}

export function links(): Link[] {
  return PAGES.flatMap(([path, text, also = []]) => {
    const { role } = pageAt(ROUTES, path);
    return role === "anyone" ? [] : [{ path, text, permission: role, also }];
  });
}
