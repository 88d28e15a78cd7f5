// From a panel without a way to pay to payments by hand, by a program and by card, in the browser only: the operator and new
// resellers see only their pages. The program is the sample of the documents, and Stripe a local one. With JavaScript and without.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { openPanel } from "../../support/worlds/panel.ts";
import { expectSound, launch, screenshot, VIEWS, visit } from "./browser.ts";
import { type Person, personAt } from "./person.ts";
import {
  LIVE_KEY,
  type LocalStripe,
  startStripe,
  WEBHOOK_SECRET,
} from "../../support/peers/stripe/server.ts";
import { addFunds } from "../portal/card-payment.ts";
import { type Quickstart, startQuickstart } from "./quickstart.ts";

const SAMPLE = new URL("../../../docs/samples/payment.mjs", import.meta.url).pathname;
const PASSWORD = "correct horse battery";

let browser: Browser;
beforeAll(async () => {
  browser = await launch();
});
afterAll(() => browser.close());

describe.each([true, false])("with JavaScript: %p", (javaScriptEnabled) => {
  let service: Quickstart;
  let stripe: LocalStripe;
  let operator: Person;
  let customer: Person;
  const contexts: BrowserContext[] = [];

  async function openPage(): Promise<Page> {
    const context = await browser.newContext({ javaScriptEnabled, locale: "en" });
    context.setDefaultTimeout(0);
    contexts.push(context);
    return context.newPage();
  }

  beforeAll(async () => {
    stripe = await startStripe({ livemode: true });
    service = await startQuickstart("--stripe-api", stripe.url);
    operator = personAt(await openPage());
    await service.signUp(operator.page);
  });
  afterAll(async () => {
    for (const context of contexts) await context.close();
    await service.stop();
    await stripe.stop();
  });

  test("an owner who has never seen the panel adds two ways to pay, and a new reseller pays by each, in the browser only", async () => {
    const wallet = await addMethods();
    await inviteReseller("nina");

    const transfer = await askFor("Bank transfer", "50");
    expect(await customer.text()).toContain("Account 12 34");
    await customer.type("Your reference", "Nina, 50");
    await customer.click("Send");
    await customer.page.getByText("It is credited once it has been checked.").waitFor();
    await operator.click("Payments");
    await operator.click(`${transfer.slice(0, 8)}…`);
    expect(await operator.text()).toContain("Nina, 50");
    await operator.click("Approve");
    await operator.click("Approve the payment of nina");
    await operator.page.getByText("nina was credited 50.00 USD.").waitFor();
    await customer.page.reload();
    await customer.page.getByText("Paid", { exact: true }).first().waitFor();

    const paid = await askFor("Wallet", "20");
    const sent = await report(wallet, paid, "20");
    expect(sent).toContain("200");
    // Twice is once.
    expect(await report(wallet, paid, "20")).toContain("200");
    await customer.page.reload();
    await customer.page.getByText("Paid", { exact: true }).first().waitFor();
    await customer.click("Overview");
    expect(await customer.text()).toContain("$70.00");
    await operator.click("Payments");
    await operator.click("Ways to pay");
    expect(await operator.text()).toContain("50.00");
    expect(await operator.text()).not.toContain("No genuine notice");
  }, 300_000);

  test("an owner sets up cards by what their page says, and a new reseller pays by card, in the browser only", async () => {
    const { click, type, text, page } = operator;
    await click("Payments");
    await click("Ways to pay");
    await click("New way to pay");
    await click("Card, by Stripe");
    await type("Id", "card");
    await type("Name in English", "Card");
    await click("Add it");
    await click("Add the way to pay card");
    await page.getByText("card was added.").waitFor();
    // It cannot be offered without its keys.
    await click("Turn on");
    expect(await text()).toContain("It cannot be offered yet: secret-key is missing");
    const url = await page.locator("#address").innerText();
    expect(await page.locator("#events").innerText()).toContain("checkout.session.completed");
    stripe.to.endpoint = { url, secrets: [WEBHOOK_SECRET] };
    stripe.to.isAutomatic = true;
    await type("Secret key", LIVE_KEY);
    await type("Webhook secret", WEBHOOK_SECRET);
    await click("Store them");
    await page.getByText("The secrets of card were stored.").waitFor();
    expect(await page.content()).not.toContain(LIVE_KEY);
    await click("Turn on");
    await page.getByText("card was turned on.").waitFor();
    expect(await text()).toContain("No genuine notice has arrived yet.");
    await inviteReseller("otto");
    await customer.click("Overview");
    await addFunds(customer.page, "25", "card");
    await customer.page.getByText("Paid", { exact: true }).first().waitFor();
    await customer.click("Overview");
    expect(await customer.text()).toContain("$25.00");
    await click("Payments");
    await click("Ways to pay");
    await click("card");
    expect(await text()).toContain("25.00 USD, 1 payment");
    expect(await text()).not.toContain("No genuine notice");
  }, 300_000);

  /** Returns what the panel shows of the program: its secret and the address for its reports. */
  async function addMethods(): Promise<{ secret: string; address: string }> {
    const { click, type, tick, text, page } = operator;
    await click("Payments");
    await click("Ways to pay");
    expect(await text()).toContain("None yet: resellers cannot add funds in the portal.");
    await click("New way to pay");
    await type("Id", "bank");
    await type("Name in English", "Bank transfer");
    await type("What customers read in English", "Account 12 34\nNova");
    await click("Add it");
    await click("Add the way to pay bank");
    await page.getByText("bank was added.").waitFor();
    await click("Ways to pay");
    await click("New way to pay");
    await click("Another program");
    // What is wrong is said beside its field, and what was typed is still there.
    await type("Id", "My Wallet");
    await type("Name in English", "Wallet");
    await tick("Offer it to resellers at once");
    await click("Add it");
    expect(await text()).toContain("Id must be 1 to 40 small letters, digits and hyphens");
    await type("Id", "wallet");
    await click("Add it");
    await click("Add the way to pay wallet");
    const secret = await page.locator("#key").innerText();
    await click("Done");
    expect(await text()).not.toContain(secret);
    expect(await text()).toContain("No genuine notice has arrived yet.");
    return { secret, address: await page.locator("#address").innerText() };
  }

  /** A new reseller's first member, who is the customer then, opens the link and chooses a password. */
  async function inviteReseller(username: string): Promise<void> {
    customer = personAt(await openPage());
    const email = `${username}@shop.example`;
    const { click, type, choose, page } = operator;
    await click("Resellers");
    await click("New reseller");
    await type("Username", username);
    await click("Create the user");
    await click("Manage members and the portal");
    await type("E-mail", email);
    await choose("Role", "owner: everything, and members");
    await click("Invite");
    const invite = page.getByRole("button", { name: /^Invite / });
    if (await invite.isVisible()) await invite.click();
    const link = await page.locator("#link").innerText();
    await customer.page.goto(link);
    const code = customer.page.getByLabel("Code from the link");
    if (await code.isVisible()) await code.fill(link.split("#")[1]!);
    await customer.type("Password", PASSWORD);
    await customer.click("Continue");
    await customer.page.getByText(`Welcome, ${email}.`).waitFor();
  }

  /** Returns the id of the payment. */
  async function askFor(method: string, amount: string): Promise<string> {
    await customer.click("Overview");
    await customer.click("Add funds");
    await customer.choose("Way to pay", method);
    await customer.type("Amount", amount);
    await customer.click("Review");
    await customer.click("Continue to payment");
    await customer.page.getByText("The payment is ready.").waitFor();
    return new URL(customer.page.url()).pathname.split("/").at(-1)!;
  }
});

test.each([...VIEWS])(
  "what is asked before terms are stored, and a secret that is shown once, are sound: $name",
  async (view) => {
    const panel = await openPanel();
    const { page, complaints, close } = await visit(browser, panel, { view, as: "tester" });
    await page.goto(`${panel.url}/new-payment-method?kind=callback`);
    const { type, click } = personAt(page);
    await type("Id", "wallet");
    await type("Currency that customers pay in", "EUR");
    await type("US dollars for one unit of it", "1.08");
    await type("Name in English", "Wallet");
    await type("What customers read in English", "Account 12 34\nNova");
    await type("Bonus", "100=50");
    await click("Add it");
    await page.getByText("The bonus is large").waitFor();
    await screenshot(page, `payment-method-asked-${view.name}`);
    await expectSound(page, complaints);
    await click("Add the way to pay wallet");
    await page.locator("#key").waitFor();
    await screenshot(page, `payment-method-secret-${view.name}`);
    await expectSound(page, complaints);
    await close();
    await panel.stop();
  },
);

/** Runs the sample program; returns what it prints. */
async function report(
  { secret, address }: { secret: string; address: string },
  payment: string,
  amount: string,
): Promise<string> {
  const program = Bun.spawn(["bun", SAMPLE, payment, `wallet-${payment}`, amount, "USD"], {
    env: { ...process.env, CALLBACK_URL: address, PAYMENT_SECRET: secret },
    stdout: "pipe",
    stderr: "inherit",
  });
  const printed = await program.stdout.text();
  await program.exited;
  return printed;
}
