// Set-up, sign-in and the second factor in Chromium as a person does them: with JavaScript and without, with the mouse and
// with the keyboard alone.

import { Secret, TOTP } from "otpauth";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { setUpLink } from "../../../src/panel/server/invitations.ts";
import { newToken } from "../../../src/web/sessions/tokens.ts";
import { openPanel, type TestPanel } from "../../support/worlds/panel.ts";
import { expectSound, launch, screenshot, visit } from "./browser.ts";

const PASSWORD = "several easy words";
const STEP_MS = 30_000;

let browser: Browser;
beforeAll(async () => {
  browser = await launch();
});
afterAll(() => browser.close());

function invite(panel: TestPanel, name: string): string {
  const { token, invitationHash } = newToken();
  panel.run("inviteAdministrator", { name, role: "owner", invitationHash });
  return token;
}

/** As an authenticator shows it, `steps` later. */
function codeOf(secret: string, steps = 0): string {
  const timestamp = Date.now() + steps * STEP_MS;
  return new TOTP({ secret: Secret.fromBase32(secret.replaceAll(" ", "")) }).generate({
    timestamp,
  });
}

const heading = (page: Page) => page.locator("h1").textContent();

describe.each([
  ["with JavaScript", true],
  ["without JavaScript", false],
])("%s", (title, javaScriptEnabled) => {
  test("an invitation becomes an account with a second factor, which is asked for at the next sign-in", async () => {
    // A server that others reach, so that owners need a second factor.
    const panel = await openPanel({ settings: { needsSecondFactor: true } });
    const token = invite(panel, "alice");
    const { page, complaints, context, close } = await visit(browser, panel, { javaScriptEnabled });
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    await page.goto(setUpLink(panel.url, token));
    if (javaScriptEnabled) {
      expect(page.url()).toBe(`${panel.url}/setup`);
      expect(await page.locator("[name=token]").isVisible()).toBe(false);
    } else await page.fill("[name=token]", token);
    await screenshot(page, `sign-in-1-${title}`);
    await page.fill("[name=password]", "short");
    await page.click("main button");
    expect(await page.locator(".error").textContent()).toContain("password must be 12 to 1024");
    await screenshot(page, `sign-in-2-${title}`);
    await page.fill("[name=token]", token, { force: true });
    await page.fill("[name=password]", PASSWORD);
    await page.click("main button");

    expect(await heading(page)).toBe("Second factor");
    await page.goto(`${panel.url}/audit`);
    expect(await heading(page)).toBe("Second factor");
    await page.click("text=Set up");
    await screenshot(page, `sign-in-3-${title}`);
    const secret = (await page.locator("#secret").textContent())!;
    await page.fill("[name=code]", "000000");
    await page.click("text=Turn on");
    expect(await page.locator(".error").textContent()).toBe("Wrong code");
    await page.fill("[name=code]", codeOf(secret));
    await page.click("text=Turn on");
    expect(await heading(page)).toBe("Recovery codes");
    await screenshot(page, `sign-in-4-${title}`);
    const [recovery] = (await page.locator("#codes").textContent())!.split("\n");
    await page.click("text=I have saved them");
    expect(page.url()).toBe(`${panel.url}/`);

    await page.click("text=Sign out");
    expect(await heading(page)).toBe("Sign in");
    expect(await context.cookies()).toEqual([]);
    await page.goto(`${panel.url}/audit?action=user.credit`);
    await page.fill("[name=name]", "alice");
    await page.fill("[name=password]", "not the right one");
    await page.click("main button");
    expect(await page.locator(".error").textContent()).toBe("Wrong name or password");
    await screenshot(page, `sign-in-5-${title}`);
    if (javaScriptEnabled) await expectSound(page, complaintsOf(complaints));
    await page.fill("[name=password]", PASSWORD);
    await page.click("main button");
    expect(await heading(page)).toBe("Second factor");
    await page.fill("[name=code]", codeOf(secret, 1));
    await page.click("text=Continue");
    expect(page.url()).toBe(`${panel.url}/audit?action=user.credit`);

    await page.click("text=Sign out");
    await page.fill("[name=name]", "alice");
    await page.fill("[name=password]", PASSWORD);
    await page.click("main button");
    await page.fill("[name=code]", recovery!);
    await page.click("text=Continue");
    expect(page.url()).toBe(`${panel.url}/`);
    expect(complaintsOf(complaints)).toEqual([]);
    expect(asked.join(" ")).not.toContain(token);
    await close();
    await panel.stop();
  });

  test("signing in, reading and signing out work with the keyboard only", async () => {
    const panel = await openPanel();
    const { page, close } = await visit(browser, panel, { javaScriptEnabled });
    await page.goto(`${panel.url}/sign-in?next=%2Faccount`);
    const { keyboard } = page;
    // The link to the content, the name, the password, the button.
    for (const typed of ["", "tester", "correct horse battery"]) {
      await keyboard.press("Tab");
      await keyboard.type(typed);
    }
    await keyboard.press("Enter");
    await page.waitForURL(`${panel.url}/account`);
    expect(await heading(page)).toBe("Account");
    await keyboard.press("Tab");
    await keyboard.press("Enter");
    await page.waitForURL(`${panel.url}/account#content`);
    for (let press = 0; press < 60; press++) {
      await keyboard.press("Shift+Tab");
      const text = await page.evaluate<string>("document.activeElement.textContent");
      if (text === "Sign out") break;
    }
    await keyboard.press("Enter");
    await page.waitForURL(`${panel.url}/sign-in`);
    await close();
    await panel.stop();
  });
});

/** Chromium notes every reply of 4xx. */
function complaintsOf(complaints: readonly string[]): string[] {
  return complaints.filter(
    (each) =>
      !each.startsWith("Failed to load resource: the server responded with a status of 422"),
  );
}
