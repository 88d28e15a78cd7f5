// A member who comes from another site, such as the page of a payment or a mail, is still signed in. The browser keeps
// back the cookie, which is SameSite=Strict, so it is made to ask again as from a page of the portal.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { openPortal, type TestPortal } from "../../support/worlds/portal.ts";

let portal: TestPortal;
let cookie: string;
beforeAll(async () => {
  portal = await openPortal({ prefix: "/portal" });
  portal.user("alice", "10");
  cookie = portal.session(portal.member("alice", "owner@alice.example"));
});
afterAll(() => portal.stop());

const SIGN_IN = "/portal/sign-in?next=%2Forders%3Fstatus%3Dpending";
const AGAIN = "0;url=/portal/orders?status=pending";

/** Without a cookie, unless `hasCookie`. */
const ROWS: [
  site: string | null,
  mode: string,
  hasCookie: boolean,
  status: number,
  to: string | null,
][] = [
  ["cross-site", "navigate", false, 200, AGAIN],
  ["cross-site", "navigate", true, 200, null],
  ["cross-site", "cors", false, 303, SIGN_IN],
  ["cross-site", "no-cors", false, 303, SIGN_IN],
  ["same-site", "navigate", false, 303, SIGN_IN],
  ["same-origin", "navigate", false, 303, SIGN_IN],
  ["same-origin", "navigate", true, 200, null],
  ["none", "navigate", false, 303, SIGN_IN],
  [null, "navigate", false, 303, SIGN_IN],
];

test.each(ROWS)("%p, %s, cookie: %p: %d, to %p", async (site, mode, hasCookie, status, to) => {
  const reply = await portal.ask("/orders?status=pending", {
    headers: {
      ...(site !== null && { "sec-fetch-site": site }),
      "sec-fetch-mode": mode,
      ...(hasCookie && { cookie }),
    },
  });
  expect(reply.status).toBe(status);
  expect(reply.headers.get("refresh") ?? reply.headers.get("location")).toBe(to);
});

const ELSEWHERE = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" };

test("the side of the portal stays, pages for anyone are shown, and forms are refused", async () => {
  const test = await portal.ask("/test/orders", { headers: ELSEWHERE });
  expect(test.headers.get("refresh")).toBe("0;url=/portal/test/orders");
  const signIn = await portal.ask("/sign-in", { headers: ELSEWHERE });
  expect([signIn.status, signIn.headers.get("refresh")]).toEqual([200, null]);
  const unknown = await portal.ask("//evil.example/", { headers: ELSEWHERE });
  expect([unknown.status, unknown.headers.get("refresh")]).toEqual([404, null]);
  const form = await portal.ask("/sign-out", { method: "POST", headers: ELSEWHERE });
  expect([form.status, form.headers.get("refresh")]).toEqual([403, null]);
});
