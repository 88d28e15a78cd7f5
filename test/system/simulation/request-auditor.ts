// The part of the auditor that looks at requests for orders: it sees what resellers ask, what reaches providers with their
// replies, and what operators decide. That no money moves on a wish follows from the auditor of orders, which believes
// reports of providers and commands of operators alone.

import type { MarketDatabase } from "./databases.ts";
import { Finding } from "./auditor.ts";

export type Kind = "cancel" | "refill";

/** The requests of one kind for one order. */
interface File {
  /** Calls that were made, those of them that certainly never left, and those that arrived. */
  sends: number;
  notSent: number;
  receipts: number;
  accepted: boolean;
  refused: boolean;
  completed: boolean;
  rejected: boolean;
  decided: Set<string>;
}

export interface RequestRow {
  requestId: number;
  orderId: number;
  link: string;
  kind: Kind;
  state: string;
  unknown: number;
  providerId: number | null;
  providerRefill: string | null;
  sentAt: number | null;
  status: string;
  placement: string;
  /** 1 if the order's submission was ever unknown. */
  wasUnknown: number;
}

export interface RequestAuditor {
  /** Before it is asked: whether an answer comes is another matter. */
  asks(link: string, kind: Kind): void;
  wasAsked(link: string, kind: Kind): boolean;
  /** Another reseller must not get it. */
  gotForeign(link: string): void;
  sent(link: string, kind: Kind): void;
  notSent(link: string, kind: Kind): void;
  received(link: string, kind: Kind): void;
  heard(link: string, kind: Kind, what: "accepted" | "refused" | "completed" | "rejected"): void;
  decided(link: string, kind: Kind, decision: string): void;
  rows(): RequestRow[];
  audit(): void;
  /** At the very end: nothing waits that could have ended. `hasEnded`: of a refill at its provider. */
  auditEnd(hasEnded: (providerId: number, providerRefill: string) => boolean): void;
}

const OVER = new Set(["CANCELLED", "PARTIAL", "FAILED", "REFUNDED"]);
const OPEN = new Set(["requested", "sent", "accepted"]);

export function createRequestAuditor({ query }: Pick<MarketDatabase, "query">): RequestAuditor {
  const files = new Map<string, File>();
  const wishes = new Set<string>();
  const fileOf = (link: string, kind: Kind): File => {
    const name = `${kind} ${link}`;
    let file = files.get(name);
    if (!file) {
      file = {
        sends: 0,
        notSent: 0,
        receipts: 0,
        accepted: false,
        refused: false,
        completed: false,
        rejected: false,
        decided: new Set(),
      };
      files.set(name, file);
    }
    return file;
  };
  const must = (holds: boolean, what: string) => {
    if (!holds) throw new Finding(what);
  };
  const rows = () =>
    query<RequestRow>(`SELECT request_id AS "requestId", order_requests.order_id AS "orderId", link, kind, state,
        unknown, order_requests.provider_id AS "providerId", provider_refill AS "providerRefill",
        sent_at AS "sentAt", status, placement,
        CASE WHEN EXISTS (SELECT 1 FROM attempts
          WHERE attempts.order_id = orders.order_id AND outcome = 'unknown') THEN 1 ELSE 0 END AS "wasUnknown"
      FROM order_requests JOIN orders ON orders.order_id = order_requests.order_id
        JOIN users ON users.account = orders.reseller_account
      WHERE users.test_of IS NULL ORDER BY request_id`);

  const isJustified = (row: RequestRow, file: File): boolean => {
    switch (row.state) {
      case "accepted":
        return file.accepted || file.decided.has("approve");
      case "declined":
        return (
          file.refused ||
          file.rejected ||
          file.decided.has("decline") ||
          row.wasUnknown === 1 ||
          row.status !== (row.kind === "cancel" ? "PROCESSING" : "COMPLETED") ||
          // Given up after tries of which none left; another request may have been sent since.
          file.notSent > 0
        );
      case "done":
        return row.kind === "cancel"
          ? OVER.has(row.status)
          : file.completed || file.decided.has("complete");
      default:
        return true;
    }
  };

  return {
    asks: (link, kind) => void wishes.add(`${kind} ${link}`),
    wasAsked: (link, kind) => wishes.has(`${kind} ${link}`),
    gotForeign: (link) => must(false, `${link}: another reseller made a request for it`),
    sent: (link, kind) => void (fileOf(link, kind).sends += 1),
    notSent: (link, kind) => void (fileOf(link, kind).notSent += 1),
    received: (link, kind) => void (fileOf(link, kind).receipts += 1),
    heard: (link, kind, what) => void (fileOf(link, kind)[what] = true),
    decided: (link, kind, decision) => void fileOf(link, kind).decided.add(decision),
    rows,
    audit() {
      const open = new Map<string, number>();
      const maySend = new Map<string, number>();
      const count = (counts: Map<string, number>, name: string) =>
        counts.set(name, (counts.get(name) ?? 0) + 1);
      for (const row of rows()) {
        const name = `${row.kind} ${row.link}`;
        const at = `request ${row.requestId} (${name}, ${row.state}, order ${row.status})`;
        must(wishes.has(name), `${at} was never asked for`);
        if (OPEN.has(row.state)) count(open, name);
        if (row.sentAt !== null) count(maySend, name);
        must(isJustified(row, fileOf(row.link, row.kind)), `${at} has no reason to be so`);
        const isOpenAfter =
          row.kind === "cancel" &&
          OPEN.has(row.state) &&
          (OVER.has(row.status) || row.status === "COMPLETED");
        must(!isOpenAfter, `${at} is open although its order has ended`);
      }
      for (const [name, requests] of open) must(requests <= 1, `${requests} open at once: ${name}`);
      for (const [name, { sends, notSent, receipts }] of files) {
        const allowed = maySend.get(name) ?? 0;
        must(
          sends - notSent <= allowed,
          `${name} was sent ${sends - notSent} times for ${allowed} requests`,
        );
        must(
          receipts <= allowed,
          `${name} reached its provider ${receipts} times for ${allowed} requests`,
        );
      }
      const refilled = new Map<string, number>();
      for (const row of rows()) if (row.kind === "refill") count(refilled, row.link);
      for (const [link, refills] of refilled)
        must(refills <= 1, `${link}: ${refills} refills in a day`);
    },
    auditEnd(hasEnded) {
      for (const { requestId, kind, state, unknown, providerId, providerRefill } of rows()) {
        const at = `request ${requestId} (${kind}, ${state})`;
        must(state !== "requested" || providerId === null, `${at} was never sent`);
        must(state !== "sent" || unknown === 1, `${at} was never finished`);
        const isFollowed = state === "accepted" && providerRefill !== null;
        must(
          !isFollowed || !hasEnded(providerId!, providerRefill),
          `${at} starved: it has ended there`,
        );
      }
    },
  };
}
