// The payment page of a session: what a customer can do there are buttons of a plain form.

import type { Stripe } from "stripe";

export const ACTIONS = {
  card: "Pay by card",
  declined: "Pay by a card that is declined",
  bank: "Pay by bank debit",
  back: "Go back",
} as const;
export type Action = keyof typeof ACTIONS;

const escape = (text: string) => text.replace(/[&<>"']/g, (found) => `&#${found.charCodeAt(0)};`);

export function paymentPage(
  session: Stripe.Checkout.Session,
  name: string,
  notice: string,
): string {
  const amount = `${session.amount_total} ${session.currency!.toUpperCase()} (minor units)`;
  const buttons = Object.entries(ACTIONS).map(
    ([action, text]) => `<button name="action" value="${action}">${text}</button>`,
  );
  return `<!doctype html><html lang="en"><title>Checkout</title><h1>${escape(name)}</h1>
<p>${escape(amount)}</p><p role="status">${escape(notice)}</p>
<form method="post">${buttons.join("")}</form></html>`;
}

export function endedPage(): string {
  return `<!doctype html><html lang="en"><title>Checkout</title><h1>This checkout session has ended</h1></html>`;
}
