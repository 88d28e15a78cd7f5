// The links of e-mails in Chromium, as a mail server received them: an account is opened, a password is forgotten, and a
// kind of e-mail is turned off; with JavaScript, which takes the secret from the link, and without, where it is pasted.

import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { findMemberByEmail } from "../../../src/db/members/members.ts";
import { memberAuthor } from "../../../src/domain/members/members.ts";
import { startMails } from "../../../src/mails/worker.ts";
import { createTexts } from "../../../src/portal/texts/texts.ts";
import type { Outbox } from "../../../src/scheduling/outbox.ts";
import { type MailServerPeer, startMailServer } from "../../support/peers/mail-server.ts";
import { mailDeps } from "../../support/worlds/mailing.ts";
import { openPortal, PASSWORD, type TestPortal } from "../../support/worlds/portal.ts";
import { until } from "../../support/until.ts";
import { expectSound, launch, screenshot } from "../panel/browser.ts";

let browser: Browser;
let portal: TestPortal;
let server: MailServerPeer;
let deps: ReturnType<typeof mailDeps>;
let mails: Outbox;
beforeAll(async () => {
  browser = await launch();
  server = await startMailServer();
  portal = await openPortal({ prefix: "/portal", settings: { registration: "open" } });
  portal.run("setMailSettings", { active: true, operator: null });
  const portalUrl = `${portal.url}/portal`;
  const site = { brand: "Nova", contact: null, portalUrl, panelUrl: null, texts: createTexts() };
  deps = mailDeps(portal, server, { site });
  mails = startMails(deps);
});
afterAll(async () => {
  await mails.stop(600_000);
  deps.ticker.stop();
  await browser.close();
  await server.close();
  await portal.stop();
});

/** Opens the link in the next mail to the address. */
async function openLink(page: Page, to: string, js: boolean): Promise<void> {
  const found = () => server.received.find((each) => each.to === to);
  await until(() => found() !== undefined);
  const [mail] = server.received.splice(server.received.indexOf(found()!), 1);
  const [url] = /http:\S+#\S+/.exec(mail!.mail.text!) as unknown as [string];
  await page.goto(url);
  const token = page.getByLabel("Code from the link");
  if (js) expect(await token.isVisible()).toBe(false);
  else await token.fill(url.split("#")[1]!);
}

test.each([true, false])("a visitor's whole way; JavaScript: %p", async (js) => {
  const email = `eve-${js ? "js" : "plain"}@new.example`;
  const context = await browser.newContext({ javaScriptEnabled: js });
  context.setDefaultTimeout(0);
  const page = await context.newPage();
  await page.goto(`${portal.url}/portal/register`);
  await page.getByLabel("Your name or company").fill("Eve");
  await page.getByLabel("E-mail address").fill(email);
  await page.getByRole("main").getByRole("button", { name: "Create an account" }).click();
  await page.getByText("We have sent an e-mail").waitFor();
  expect(portal.read((reader) => findMemberByEmail(reader, email))).toBeUndefined();
  await openLink(page, email, js);
  await page.getByLabel("Password").fill("four words are enough");
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  if (js) await expectSound(page, []);
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("link", { name: "Forgot your password?" }).click();
  await page.getByLabel("E-mail address").fill(email);
  await page.getByRole("button", { name: "Send me a link" }).click();
  await page.getByText("a link is on its way").waitFor();
  await openLink(page, email, js);
  await page.getByLabel("Password").fill("four other words are");
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  const found = portal.read((reader) => findMemberByEmail(reader, email))!;
  expect(found.mails.split(",")).toContain("sign_in");
  // What the new password forgot: every network is new again.
  const key = { id: `${email}-session-1`, hash: "0".repeat(64) };
  const session = { ...key, address: "192.0.2.1", userAgent: "" };
  const { id: person, passwordHash } = found;
  const opened = { site: "portal", attempt: null, person, passwordHash: passwordHash! } as const;
  portal.run("openSession", { ...opened, session, network: "192.0.2.0/24" });
  const told = () =>
    server.received.find(({ to, mail }) => to === email && /unsubscribe/.test(mail.text ?? ""));
  await until(() => told() !== undefined);
  const off = /http:\S+\/unsubscribe\/\S+/.exec(told()!.mail.text!)![0];
  server.received.length = 0;
  await page.goto(off);
  await page.getByRole("main").getByRole("button", { name: "Turn off" }).click();
  await page.getByText("These e-mails are turned off").waitFor();
  expect(portal.read((reader) => findMemberByEmail(reader, email))!.mails).not.toContain("sign_in");
  await context.close();
});

test("an invitation in another language keeps its link, and the language", async () => {
  const invitation = { name: null, role: "viewer", language: "en" } as const;
  const email = "ivo@new.example";
  portal.user("ivo", "0");
  portal.run("inviteMember", { username: "ivo", email, ...invitation, invitationHash: null });
  const context = await browser.newContext();
  context.setDefaultTimeout(0);
  const page = await context.newPage();
  await openLink(page, email, true);
  await page.getByRole("button", { name: "Español" }).click();
  await page.getByRole("heading", { name: "Elija su contraseña" }).waitFor();
  expect(page.url()).toEndWith("/set-up");
  await page.getByLabel("Contraseña").fill("four words are enough");
  await page.getByRole("button", { name: "Continuar" }).click();
  await page.getByRole("heading", { name: "Resumen" }).waitFor();
  expect(new URL(page.url()).hash).toBe("");
  await context.close();
});

test("a new address is confirmed by its link, also by who must sign in first", async () => {
  portal.user("iva", "0");
  const id = portal.member("iva", "iva@new.example");
  const actor = { keyId: null, operator: memberAuthor(id) };
  portal.run("updateMember", { changes: {}, newEmail: "iva@other.example", actor });
  const context = await browser.newContext();
  context.setDefaultTimeout(0);
  const page = await context.newPage();
  const found = () => server.received.find(({ to }) => to === "iva@other.example");
  await until(() => found() !== undefined);
  const [url] = /http:\S+#\S+/.exec(found()!.mail.text!) as unknown as [string];
  await page.goto(url);
  await page.getByLabel("E-mail address").fill("iva@new.example");
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("From then on, you sign in with iva@other.example").waitFor();
  expect(await page.getByLabel("Code from the link").isVisible()).toBe(false);
  expect(new URL(page.url()).hash).toBe("");
  await screenshot(page, "portal-new-address");
  await page.getByRole("main").getByRole("button", { name: "Confirm the new address" }).click();
  await page.getByText("You now sign in with iva@other.example").waitFor();
  await until(() => server.received.some(({ to }) => to === "iva@new.example"));
  await context.close();
});
