// A customer adds funds by card in a browser: through the portal, the local Stripe's page, and back.

import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { ACTIONS, type Action } from "../../support/peers/stripe/page.ts";

/**
 * From the first page of the portal on. Returns once the customer is back on the page of the payment, at which the events of
 * Stripe have arrived; for a declined card, once Stripe has said so.
 */
export async function addFunds(page: Page, amount: string, action: Action): Promise<void> {
  await page.getByRole("link", { name: "Add funds" }).first().click();
  await page.getByLabel("Way to pay").selectOption({ label: "Card" });
  await page.getByRole("textbox", { name: "Amount" }).fill(amount);
  await page.getByRole("button", { name: "Review" }).click();
  await page.getByRole("heading", { name: "Check the payment" }).waitFor();
  await page.getByRole("button", { name: "Continue to payment" }).click();
  await page.getByText("The payment is ready.").waitFor();
  await pay(page, action);
}

/** From the page of a payment on. */
export async function pay(page: Page, action: Action): Promise<void> {
  const shop = new URL(page.url());
  await page.getByRole("link", { name: "Pay now" }).click();
  await page.getByRole("heading", { name: "Add funds" }).waitFor();
  expect(new URL(page.url()).origin).not.toBe(shop.origin);
  await page.getByRole("button", { name: ACTIONS[action], exact: true }).click();
  if (action === "declined") await page.getByText("Your card was declined.").waitFor();
  else await page.waitForURL(shop.href);
}
