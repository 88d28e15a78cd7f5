// The pages of the navigation, in its order. Each is shown to the members whose role its route admits.

import type { MemberPermission } from "../../domain/members/members.ts";
import { pageAt } from "../../web/server/site.ts";
import type { Key } from "../texts/catalogue.ts";
import { ROUTES } from "./routes.ts";

const PAGES: readonly (readonly [path: string, text: Extract<Key, `nav.${string}`>])[] = [
  ["/", "nav.overview"],
  ["/new-order", "nav.newOrder"],
  ["/orders", "nav.orders"],
  ["/services", "nav.services"],
  ["/balance", "nav.balance"],
  ["/users", "nav.users"],
  ["/members", "nav.members"],
  ["/api", "nav.api"],
  ["/settings", "nav.settings"],
];

export interface Link {
  path: string;
  text: Extract<Key, `nav.${string}`>;
  permission: MemberPermission;
}

export function links(): Link[] {
  return PAGES.flatMap(([path, text]) => {
    const { role } = pageAt(ROUTES, path);
    return role === "anyone" ? [] : [{ path, text, permission: role }];
  });
}
