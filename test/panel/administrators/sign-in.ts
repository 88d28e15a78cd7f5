// Signing in to the panel as browsers do, from one address or several, and what a test looks at then.

import { expect } from "bun:test";
import { parseNetwork } from "../../../src/config/networks.ts";
import { codeOf, stepAt } from "../../../src/domain/sign-ins/second-factor.ts";
import { newToken } from "../../../src/web/sessions/tokens.ts";
import { PASSWORD, type Reply, type TestPanel } from "../../support/worlds/panel.ts";

export const OTHER_PASSWORD = "another long password";

/** The session that a reply sets, as a browser would send it. */
export const cookieOf = ({ headers }: Reply) =>
  headers
    .getSetCookie()
    .find((each) => each.startsWith("reseller="))!
    .split(";")[0]!;

/** `panel`: the one of the test that runs. */
export function signingIn(panel: () => TestPanel) {
  const send = (path: string, fields: Record<string, string>, cookie = "", to = panel()) =>
    to.ask(path, {
      method: "POST",
      body: new URLSearchParams(fields),
      headers: { cookie, origin: to.url, "user-agent": "Browser/1" },
    });
  const signIn = (name: string, password = PASSWORD) => send("/sign-in", { name, password });
  const isIn = async (cookie: string): Promise<boolean> =>
    (await panel().ask("/account", { headers: { cookie } })).status === 200;

  function invite(name: string, role: "owner" | "operator" | "support" = "operator"): string {
    const { token, invitationHash } = newToken();
    panel().run("inviteAdministrator", { name, role, invitationHash });
    return token;
  }

  /** With a second factor; the secret. */
  async function enrol(
    cookie: string,
  ): Promise<{ secret: string; codes: string[]; cookie: string }> {
    await send("/account/second-factor/offer", {}, cookie);
    const shown = await panel().ask("/account/second-factor", { headers: { cookie } });
    const secret = /<code id="secret">([A-Z2-7 ]+)</.exec(shown.text)![1]!.replaceAll(" ", "");
    const reply = await send("/account/second-factor/enable", { code: codeNow(secret) }, cookie);
    const codes = /<pre id="codes">([^<]+)</.exec(reply.text)![1]!.split("\n");
    return { secret, codes, cookie: cookieOf(reply) };
  }
  const codeNow = (secret: string, steps = 0) => codeOf(secret, stepAt(panel().clock.now) + steps);

  /** Tries of a step at any time from any network, none of which succeeds. */
  function triesFrom(step: "password" | "code") {
    const tryAt = (now: number, name: string, network: string): boolean => {
      try {
        panel().execute(
          "beginSignIn",
          { site: "panel", step, name, address: "::1", network, userAgent: "" },
          now,
        );
        return true;
      } catch (error) {
        expect(error).toMatchObject({ code: "sign_in_limited" });
        return false;
      }
    };
    /** Seconds that each of several tries waited. */
    const waitsOf = (tries: number, start: number, place: (each: number) => string) => {
      let now = start;
      return Array.from({ length: tries }, (_, each) => {
        let waited = 0;
        while (!tryAt(now, "tester", place(each))) {
          now += 1000;
          waited += 1;
        }
        return waited;
      });
    };
    return { tryAt, waitsOf };
  }
  return { send, signIn, isIn, invite, enrol, codeNow, triesFrom };
}

/** A panel trusts a proxy on this machine, which says from where each request comes. */
export const BEHIND_PROXY = { trustedProxy: [parseNetwork("127.0.0.1/32")!] };

/** Requests to a panel that is BEHIND_PROXY. */
export function fromAddresses(open: TestPanel) {
  const sendFrom = (
    address: string,
    path: string,
    fields: Record<string, string> | null,
    cookie = "",
  ) => {
    const headers = { cookie, origin: open.url, "x-forwarded-for": address };
    if (fields === null) return open.ask(path, { headers });
    return open.ask(path, { method: "POST", body: new URLSearchParams(fields), headers });
  };
  const signInFrom = (address: string, password = PASSWORD) =>
    sendFrom(address, "/sign-in", { name: "tester", password });
  return { sendFrom, signInFrom };
}
