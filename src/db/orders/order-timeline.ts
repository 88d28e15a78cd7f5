// The timeline of an order, oldest first: transfers, submission attempts, transitions with their actors, requests,
// notes, progress, costs, late reports, and the attempts to deliver its webhooks.

import type { AuditFacts } from "../../domain/administrators/audit.ts";
import type { Actor } from "../../domain/ledger/ledger.ts";
import { costText } from "../../domain/delivery/costs.ts";
import { listAuditEntries } from "../administrators/audit.ts";
import { listCosts } from "../delivery/costs.ts";
import { listAttempts } from "../delivery/deliveries.ts";
import { listOrderEvents } from "./order-events.ts";
import type { Order } from "./orders.ts";
import { type LateReport, listLateReports } from "./late-reports.ts";
import { listRequestsOfOrder } from "./order-requests.ts";
import type { Reader } from "../port/port.ts";
import { getProvider } from "../providers/providers.ts";
import { listTransfersOfOrder } from "../ledger/transactions.ts";
import { listWebhookAttemptsOfOrder } from "../webhooks/webhook-deliveries.ts";

/** Limit for the newest webhook attempts, and for the newest audit entries of each kind, such as notes. */
const LIMIT = 200;

export interface TimelineEntry {
  at: number;
  /**
   * One of `status`, `late`, `late report accepted` (or another decision), `number` (at the provider), `progress`,
   * `note`, `placed` (by the operator), `link`, `cost`, `request`, `webhook`; or the kind of a transfer; or an
   * attempt's state: `sending`, then its outcome.
   */
  what: string;
  from: string | null;
  to: string | null;
  /** Null: the system itself, or not known. */
  actor: Actor | null;
  note: string | null;
  /** The provider of an attempt; otherwise null. */
  provider: string | null;
  /** The amount of a transfer as the user sees it, positive for a credit; otherwise null. */
  micros: number | null;
}

const BLANK = { from: null, to: null, actor: null, note: null, provider: null, micros: null };

export function readOrderTimeline(reader: Reader, order: Order): TimelineEntry[] {
  const { orderId } = order;
  const transferred = listTransfersOfOrder(reader, orderId).map((transfer) => {
    const { createdAt: at, kind, amountMicros, actor } = transfer;
    const micros = kind === "order" ? -amountMicros : amountMicros;
    return { ...BLANK, at, what: kind, actor, micros };
  });
  // The sort is stable. Among entries with the same time, the charge comes first, and an attempt comes before the
  // transition that it led to.
  return [
    ...transferred.filter(({ what }) => what === "order"),
    ...attemptEntries(reader, orderId),
    ...listOrderEvents(reader, orderId).map((event) => {
      const { createdAt: at, fromStatus: from, toStatus: to, actor, note } = event;
      return { ...BLANK, at, what: "status", from, to, actor, note };
    }),
    ...transferred.filter(({ what }) => what !== "order"),
    ...requestEntries(reader, orderId),
    ...auditEntries(reader, orderId),
    ...listCosts(reader, orderId).map((cost) => {
      return { ...BLANK, at: cost.createdAt, what: "cost", note: costText(cost) };
    }),
    ...listLateReports(reader, orderId).map((late) => {
      const { createdAt: at, status: from, reported: to } = late;
      return { ...BLANK, at, what: "late", from, to, note: lateText(late) };
    }),
    ...webhookEntries(reader, orderId),
  ].toSorted((a, b) => a.at - b.at);
}

function lateText({ remains, decision }: LateReport): string {
  const what = remains === null ? "" : `, ${remains} remain`;
  return `reported after the end${what}: ${decision ?? "not applied"}`;
}

function attemptEntries(reader: Reader, orderId: number): TimelineEntry[] {
  return reader
    .each(listAttempts(reader, orderId), (attempt) => {
      const { startedAt, finishedAt, outcome, cause, providerId } = attempt;
      const provider = getProvider(reader, providerId).name;
      const begun = { ...BLANK, at: startedAt, what: "sending", provider };
      if (finishedAt === null) return [begun];
      return [begun, { ...BLANK, at: finishedAt, what: outcome, note: cause, provider }];
    })
    .flat();
}

/** Returns the entries of each request: when it was made, when it was sent, and its present state. */
function requestEntries(reader: Reader, orderId: number): TimelineEntry[] {
  return listRequestsOfOrder(reader, orderId).flatMap((request): TimelineEntry[] => {
    const { kind, state, unknown, createdAt, sentAt, changedAt, note } = request;
    const actor = { keyId: request.keyId, operator: request.operator };
    const made = { ...BLANK, at: createdAt, what: "request", to: kind, actor };
    if (state === "requested") return [{ ...made, note }];
    const to = `${kind} ${unknown ? "unknown" : state}`;
    const sent = { ...BLANK, at: sentAt ?? 0, what: "request", to: `${kind} sent` };
    const isSentOnly = state === "sent" && !unknown;
    return [
      made,
      ...(sentAt === null ? [] : [sent]),
      ...(isSentOnly ? [] : [{ ...BLANK, at: changedAt, what: "request", to, note }]),
    ];
  });
}

function webhookEntries(reader: Reader, orderId: number): TimelineEntry[] {
  return listWebhookAttemptsOfOrder(reader, orderId, LIMIT)
    .toReversed()
    .map(({ at, type, attempt, url, httpStatus, error }) => {
      const outcome = [httpStatus, error].filter((each) => each !== null).join(" ");
      return {
        ...BLANK,
        at,
        what: "webhook",
        note: `${type} to ${url}, attempt ${attempt}: ${outcome}`,
      };
    });
}

/** Returns entries from the audit log, without transitions: those are read from the order's events. */
function auditEntries(reader: Reader, orderId: number): TimelineEntry[] {
  return (
    [
      "order.progress",
      "order.note",
      "order.settle",
      "order.late",
      "order.place",
      "order.link",
    ] as const
  )
    .flatMap((action) =>
      listAuditEntries(reader, { action, subject: String(orderId), limit: LIMIT }),
    )
    .map(({ createdAt: at, keyId, operator, action, before, after }) => {
      const actor = { keyId, operator };
      if (action === "order.note") {
        return { ...BLANK, at, what: "note", actor, note: String(after?.["note"] ?? "") };
      }
      if (action === "order.place") {
        const { note = null, resends = null } = after ?? {};
        const again = resends === null ? "" : ` again for order ${String(resends)}`;
        return {
          ...BLANK,
          at,
          what: `placed${again}`,
          actor,
          note: note === null ? null : String(note),
        };
      }
      if (action === "order.link") {
        const text = (facts: AuditFacts | null) => String(facts?.["link"]);
        return { ...BLANK, at, what: "link", actor, from: text(before), to: text(after) };
      }
      if (action === "order.late") {
        return { ...BLANK, at, what: `late report ${String(after?.["decision"])}`, actor };
      }
      if (action === "order.settle") {
        const number = (facts: AuditFacts | null) => String(facts?.["providerOrder"]);
        return { ...BLANK, at, what: "number", actor, from: number(before), to: number(after) };
      }
      return { ...BLANK, at, what: "progress", actor, from: textOf(before), to: textOf(after) };
    });
}

/** Formats progress, such as `remains 157, start count 3572`. */
function textOf(facts: AuditFacts | null): string {
  const names = { startCount: "start count", remains: "remains" } as const;
  return Object.entries(names)
    .filter(([name]) => facts?.[name] !== undefined)
    .map(([name, shown]) => `${shown} ${String(facts![name])}`)
    .join(", ");
}
