// What needs the operator's attention, the worst first, each with a link to the page that resolves it.

import type { Attention } from "../../db/reports/attention.ts";
import {
  type Condition,
  conditionsOf,
  type Lateness,
  type MachineFacts,
} from "../../domain/alerts/conditions.ts";
import {
  LATE_REPORT_RULES,
  NUMBER_RULES,
  PROVIDER_RULES,
  REGISTRATION_RULES,
  REQUEST_RULES,
} from "../../domain/alerts/provider-conditions.ts";
import { MAIL_RULES } from "../../domain/alerts/mail-conditions.ts";
import { PAYMENT_RULES, SURPLUS_RULES } from "../../domain/alerts/payment-conditions.ts";
import { SPEND_RULES } from "../../domain/alerts/spend-conditions.ts";
import { MACHINE_RULES, WEBHOOK_RULES } from "../../domain/alerts/machine-conditions.ts";

export interface AttentionItem {
  tone: "bad" | "busy";
  text: string;
  /** What to do; the text of the link. */
  action: string;
  href: string;
}

/** `lateness`: of polls, by provider name. Absent for a provider that this server has not polled. */
export function attentionItems(
  {
    providers,
    unrecognized,
    lateOrders,
    failedWebhooks,
    requests,
    registrations,
    spenders,
    payments,
    surpluses,
    mails,
    lastRowAt,
  }: Attention,
  machine: MachineFacts,
  lateness: ReadonlyMap<string, Lateness>,
  now: number,
): AttentionItem[] {
  const numbers = [...Map.groupBy(unrecognized, ({ provider }) => provider)];
  const conditions = [
    ...conditionsOf(MACHINE_RULES, { ...machine, lastRowAt }, now),
    ...providers.flatMap((each) =>
      conditionsOf(PROVIDER_RULES, { ...each, lateness: lateness.get(each.name) }, now),
    ),
    ...numbers.flatMap(([name, orders]) =>
      conditionsOf(NUMBER_RULES, { name, count: orders.length, orders }, now),
    ),
    // The rule says the id, because alerts outlast an erasure of the name.
    ...spenders.flatMap((each) => conditionsOf(SPEND_RULES, { ...each, id: each.username }, now)),
    ...conditionsOf(PAYMENT_RULES, payments, now),
    ...surpluses.flatMap((each) => conditionsOf(SURPLUS_RULES, each, now)),
    ...conditionsOf(MAIL_RULES, mails, now),
    ...conditionsOf(REQUEST_RULES, requests, now),
    ...conditionsOf(REGISTRATION_RULES, { waiting: registrations }, now),
    ...failedWebhooks.flatMap((each) => conditionsOf(WEBHOOK_RULES, { ...each, id: null }, now)),
    ...conditionsOf(LATE_REPORT_RULES, { name: null, count: lateOrders }, now),
  ];
  return conditions
    .map(itemOf)
    .toSorted((a, b) => Number(a.tone === "busy") - Number(b.tone === "busy"));
}

function itemOf({ severity, text, action, page }: Condition): AttentionItem {
  return { tone: severity === "note" ? "busy" : "bad", text, action, href: page };
}
