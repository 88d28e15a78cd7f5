// The pages that are looked at in every view: a page that is added gets a line here. And what they show.

import type { TestPanel } from "../../support/panel.ts";

export interface LookedAt {
  name: string;
  path: string;
  /** Nobody is signed in. */
  isPublic?: true;
}

export const PAGES: readonly LookedAt[] = [
  { name: "sign-in", path: "/sign-in", isPublic: true },
  { name: "set-up", path: "/setup", isPublic: true },
  { name: "audit", path: "/audit" },
  { name: "audit-none", path: "/audit?subject=nothing" },
  { name: "audit-wrong", path: "/audit?from=yesterday" },
  { name: "system", path: "/system" },
  { name: "administrators", path: "/administrators" },
  { name: "account", path: "/account" },
  { name: "second-factor", path: "/account/second-factor" },
];

/** Names and notes as people type them, and as those do who mean harm. */
export const HARMFUL = "<b>\u202eevil\u0000</b>\"'&\u200b<script>alert(1)</script>";

/** A market with something of everything. */
export function fillMarket(panel: TestPanel): void {
  panel.user("alice", "1000");
  panel.user("bob", "20", "alice");
  panel.run("creditUser", { username: "alice", amountMicros: 5_000_000, note: HARMFUL });
  panel.service({ id: "followers", name: "Followers" });
  panel.service({ id: "likes", name: "Likes, fast", price: "0.9" });
  panel.key("alice", "full");
  panel.administrator("sam", "support");
  panel.administrator("olga", "operator");
  panel.session("sam");
}
