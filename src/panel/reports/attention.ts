// What needs the operator's attention, the worst first, each with a link to the page that settles it.

import type { Attention, ProviderAttention } from "../../db/reports/attention.ts";
import type { FailedWebhooks } from "../../db/webhooks/webhook-figures.ts";
import { heldSync, lowBalance } from "../../domain/webhooks/alerts.ts";
import { formatDuration } from "../../domain/values/units.ts";
import { counted } from "../../domain/values/text.ts";
import type { MachineFacts } from "../server/call.ts";
import { timeText } from "../components/shown.tsx";

const MIB = 1024 * 1024;
/** The same limits as in `doctor` (storage/doctor/doctor.ts, storage/doctor/findings.ts). */
const ROOM_BAD_BYTES = 64 * MIB;
const ROOM_LOW_BYTES = 1024 * MIB;
const BACKUP_OLD_MS = 2 * 86_400_000;
const OFFSITE_OLD_MS = 2 * 86_400_000;
const CLOCK_BEHIND_MS = 5 * 60_000;
/** The same limit as in `admin provider list`. */
const LATE_MS = 5 * 60_000;

export interface AttentionItem {
  tone: "bad" | "busy";
  text: string;
  /** What to do; the text of the link. */
  action: string;
  href: string;
}

export function attentionItems(
  { providers, unrecognized, lateOrders, failedWebhooks, requests, lastRowAt }: Attention,
  machine: MachineFacts,
  now: number,
): AttentionItem[] {
  const items = [
    ...systemItems(machine, lastRowAt, now),
    ...providers.flatMap((provider) => providerItems(provider, now)),
    ...unrecognizedItems(unrecognized),
  ];
  items.push(...requestItems(requests));
  items.push(...failedWebhooks.flatMap(webhookItems));
  if (lateOrders > 0) {
    items.push({
      tone: "busy",
      text: `${counted(lateOrders, "order")} changed at the provider after the end`,
      action: "Accept or dismiss what was reported",
      href: "/orders?late=yes",
    });
  }
  return items.toSorted((a, b) => Number(a.tone === "busy") - Number(b.tone === "busy"));
}

function webhookItems({ username, webhooks, failing, failingSince }: FailedWebhooks) {
  const add = (text: string): AttentionItem => ({
    tone: "busy",
    text,
    action: "See the user",
    href: `/users/${encodeURIComponent(username)}#webhooks`,
  });
  const named = (count: number) => (count === 1 ? "A webhook" : `${count} webhooks`);
  const items: AttentionItem[] = [];
  if (webhooks > 0) {
    items.push(
      add(`${named(webhooks)} of ${username} failed and ${webhooks === 1 ? "is" : "are"} disabled`),
    );
  }
  if (failing > 0) {
    const since = `since ${timeText(failingSince!)} UTC`;
    items.push(
      add(`${named(failing)} of ${username} ${failing === 1 ? "fails" : "fail"} ${since}`),
    );
  }
  return items;
}

function requestItems({ toDecide, unknown }: Attention["requests"]): AttentionItem[] {
  const items: AttentionItem[] = [];
  if (unknown > 0) {
    items.push({
      tone: "bad",
      text: `${counted(unknown, "request")}: not known what the provider did with ${unknown === 1 ? "it" : "them"}`,
      action: "Decide",
      href: "/requests",
    });
  }
  if (toDecide > 0) {
    items.push({
      tone: "busy",
      text: `${counted(toDecide, "request")} of resellers to cancel or refill an order`,
      action: "Decide",
      href: "/requests",
    });
  }
  return items;
}

function providerItems(provider: ProviderAttention, now: number): AttentionItem[] {
  const { name, unknown, outOfFundsAt, submissionDueAt, pollDueAt } = provider;
  const items: AttentionItem[] = [];
  const orders = (placement: string) =>
    `/orders?status=PENDING&placement=${placement}&provider=${name}`;
  if (unknown > 0) {
    items.push({
      tone: "bad",
      text: `${counted(unknown, "order")}: not known whether ${name} received ${unknown === 1 ? "it" : "them"}`,
      action: "Settle",
      href: orders("unknown"),
    });
  }
  if (provider.pausedAt !== null) {
    const why = provider.pausedBy === "operator" ? "by hand" : "after unknown outcomes in a row";
    items.push({
      tone: provider.pausedBy === "operator" ? "busy" : "bad",
      text: `Submissions to ${name} are paused ${why} since ${timeText(provider.pausedAt)} UTC`,
      action: "Look at it, and resume it",
      href: `/providers/${name}`,
    });
  }
  if (outOfFundsAt !== null) {
    items.push({
      tone: "bad",
      text: `${name} refuses orders for lack of funds since ${timeText(outOfFundsAt)} UTC: they are refunded, or go to the next route`,
      action: "Top up there. See what it refused",
      // Refused orders are refunded or passed on. Only the refunded ones stay with the provider.
      href: `/orders?status=FAILED&provider=${name}&from=${dayOf(outOfFundsAt)}`,
    });
  } else if (submissionDueAt !== null && now - submissionDueAt > LATE_MS) {
    items.push({
      tone: "bad",
      text: `Orders for ${name} are not sent since ${timeText(submissionDueAt)} UTC`,
      action: "See those that wait",
      href: orders("queued"),
    });
  }
  if (provider.foreignCurrency !== null) {
    items.push({
      tone: "bad",
      text: `${name} charged in ${provider.foreignCurrency}: that cost is not counted`,
      action: "Set its rate to USD",
      href: `/providers/${name}`,
    });
  }
  if (provider.syncHeld !== null) {
    items.push({
      tone: "busy",
      text: heldSync(provider),
      action: "Look at it, and apply it",
      href: `/providers/${name}`,
    });
  }
  const { delistedRoutes } = provider;
  if (delistedRoutes > 0) {
    items.push({
      tone: "busy",
      text: `${name} does not list ${counted(delistedRoutes, "service")} any more: other routes deliver ${delistedRoutes === 1 ? "it" : "them"}`,
      action: "See the services",
      href: `/services?provider=${name}`,
    });
  }
  const low = lowBalance(provider);
  if (low !== null) {
    items.push({ tone: "bad", text: low, action: "See it", href: `/providers/${name}` });
  }
  if (pollDueAt !== null && now - pollDueAt > LATE_MS) {
    items.push({
      tone: "bad",
      text: `${name} has not answered for an order that was due at ${timeText(pollDueAt)} UTC`,
      action: "See what it delivers",
      href: `/orders?status=PROCESSING&provider=${name}`,
    });
  }
  return items;
}

/** Returns one item for each provider. */
function unrecognizedItems(orders: Attention["unrecognized"]): AttentionItem[] {
  return [...Map.groupBy(orders, ({ provider }) => provider)].map(([provider, own]) => ({
    tone: "bad",
    text: `${provider} does not know the ${own.length === 1 ? "number" : "numbers"} of ${counted(own.length, "order")}`,
    action: "Correct what was settled",
    href: `/orders?ids=${own.map(({ orderId }) => orderId).join("+")}`,
  }));
}

function systemItems(
  { newestBackupAt, isBackupVerified, newestRemoteAt, freeBytes }: MachineFacts,
  lastRowAt: number | null,
  now: number,
): AttentionItem[] {
  const items: AttentionItem[] = [];
  const add = (tone: AttentionItem["tone"], text: string, action: string) =>
    items.push({ tone, text, action, href: "/system" });
  if (newestBackupAt === null) add("bad", "There is no backup", "Make one");
  else if (newestBackupAt !== undefined && now - newestBackupAt > BACKUP_OLD_MS) {
    add(
      "bad",
      `The last backup is ${formatDuration(dayFloor(now - newestBackupAt))} old`,
      "Make one",
    );
  }
  if (isBackupVerified === false) {
    add(
      "bad",
      "The last backup does not verify: something in the database is wrong",
      "See the system",
    );
  }
  if (newestRemoteAt === null) add("bad", "No backup was copied off-site", "See the system");
  else if (newestRemoteAt !== undefined && now - newestRemoteAt > OFFSITE_OLD_MS) {
    const age = formatDuration(dayFloor(now - newestRemoteAt));
    add("bad", `The last off-site copy is ${age} old`, "See the system");
  }
  if (freeBytes !== undefined && freeBytes < ROOM_LOW_BYTES) {
    const tone = freeBytes < ROOM_BAD_BYTES ? "bad" : "busy";
    add(tone, `The disk has ${Math.floor(freeBytes / MIB)} MiB free`, "See the system");
  }
  if (lastRowAt !== null && lastRowAt - now > CLOCK_BEHIND_MS) {
    add("bad", `The clock is behind: the last change is of ${timeText(lastRowAt)} UTC`, "Set it");
  }
  return items;
}

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

function dayFloor(milliseconds: number): number {
  return milliseconds - (milliseconds % 86_400_000);
}
