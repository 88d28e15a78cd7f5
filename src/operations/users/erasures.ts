// Erases the personal data of a user on request: first the user itself, then its history in pieces, each in a
// transaction of its own. An interrupted erasure is repeated from the beginning. docs/specification/users.md#erasure.

import { ENDED_STATUSES } from "../../domain/orders/order-statuses.ts";
import { NO_EARLIER_SECRETS } from "../../domain/webhooks/webhooks.ts";
import { readExactJson, writeExactJson } from "../../domain/ledger/money.ts";
import type { AuditFacts } from "../../domain/administrators/audit.ts";
import { ERASED, erasedFacts, erasedSubject, erasedUsername } from "../../domain/users/erasures.ts";
import type { Actor } from "../../domain/ledger/ledger.ts";
import { testUsername } from "../../domain/orders/sandbox.ts";
import { Refusal, refusal } from "../../domain/values/error-table.ts";
import {
  countOpenOrders,
  countOpenRequests,
  type Erased,
  eraseIdempotencyRecords,
  eraseOrders,
  erasePayments,
  eraseTransferNotes,
  eraseWebhookEvents,
  listAuditRows,
} from "../../db/users/erasures.ts";
import { erasePastOrders } from "../../db/imports/imports.ts";
import { deleteMailsOf } from "../../db/mails/mails.ts";
import { listKeys } from "../../db/users/keys.ts";
import type { Tx } from "../../db/port/port.ts";
import { audit as auditTable } from "../../db/tables/administrators.ts";
import { OUTBOX_LOCK } from "../../db/tables/locks.ts";
import { billingDetails } from "../../db/tables/invoices.ts";
import { portalSettings } from "../../db/tables/members.ts";
import { keys, users } from "../../db/tables/users.ts";
import { webhooks } from "../../db/tables/webhooks.ts";
import { findTestAccount, updateUserFields, type User } from "../../db/users/users.ts";
import { listWebhooks, updateWanted } from "../../db/webhooks/webhooks.ts";
import { putContact } from "../../db/users/user-contacts.ts";
import { audit } from "../batch/audit.ts";
import type { Context } from "../batch/context.ts";
import { eraseMembers } from "../members/members.ts";
import { requireUser } from "./users.ts";

export interface EraseUser {
  username: string;
  /** The reason, for the audit log. It must contain nothing personal. */
  reason: string;
  actor: Actor;
}

export interface ErasedUser {
  /** The username after the erasure. */
  username: string;
  /** Accounts whose history is erased next: the user's own, and its test account if it has one. */
  accounts: number[];
}

/**
 * Erases the user's names, e-mail address and notes, and the labels, networks and addresses of its keys, which stay inactive. Deletes its
 * webhooks. Balance, orders and transfers stay. Does nothing for a user that is already erased. Refuses:
 * user_not_found, user_active, user_has_open_orders, user_has_open_requests.
 */
export function eraseUser(tx: Tx, command: EraseUser, context: Context): ErasedUser {
  const user = requireUser(tx, command.username);
  const test = findTestAccount(tx, user.account);
  const accounts = [user.account, ...(test ? [test.account] : [])];
  const username = erasedUsername(user);
  if (user.erasedAt !== null) return { username, accounts };
  // A child user has no keys and cannot be deactivated, so it is always active.
  if (user.active && user.parentAccount === null) throw refusal("user_active");
  const sumOf = (counts: number[]) => counts.reduce((sum, count) => sum + count, 0);
  const orders = sumOf(tx.each(accounts, (account) => countOpenOrders(tx, account)));
  if (orders > 0) throw new Refusal("user_has_open_orders", { orders });
  const requests = sumOf(tx.each(accounts, (account) => countOpenRequests(tx, account)));
  if (requests > 0) throw new Refusal("user_has_open_requests", { requests });
  const held = listKeys(tx, { account: user.account });
  const endpoints = accounts.flatMap((account) => listWebhooks(tx, account));
  // Nothing is refused from here on.
  eraseMembers(tx, user.account);
  tx.each(accounts, (account) =>
    updateWanted(tx, account, { wantedEvents: 0, lowBalanceMicros: null }),
  );
  const portal = tx.row(portalSettings.byKey, user.account);
  if (portal) tx.update(portalSettings, portal, { lowBalanceMicros: null });
  putContact(tx, user.account, { email: null, note: null });
  markErased(tx, user, username, context);
  if (test) markErased(tx, test, testUsername({ username, account: test.account }), context);
  tx.each(held, (key) => {
    const off = { active: false, suspended: false };
    tx.update(keys, key, { ...off, label: ERASED, allow: "", lastAddress: null });
  });
  const { now } = context;
  tx.each(endpoints, (webhook) =>
    tx.update(webhooks, webhook, {
      url: "https://erased.invalid",
      active: false,
      disabledReason: "operator",
      disabledAt: now,
      deletedAt: now,
      secret: "",
      ...NO_EARLIER_SECRETS,
    }),
  );
  audit(tx, context, {
    actor: command.actor,
    action: "user.erase",
    subject: username,
    account: user.account,
    before: null,
    after: {
      reason: command.reason,
      erased:
        "names, e-mail address, links, texts of orders, references, notes, labels, networks, addresses, webhooks, members, e-mails, stored requests, references and files of payments",
      kept: "balance, transfers, invoices, orders without links and texts, the audit log without names: for the ledger",
      keys: held.length,
      webhooks: endpoints.length,
    },
  });
  return { username, accounts };
}

function markErased(
  tx: Tx,
  { account }: Pick<User, "account">,
  username: string,
  { now }: Context,
) {
  updateUserFields(tx, account, { username, name: ERASED, active: false, erasedAt: now });
}

type Piece = { account: number; after: number; limit: number };

/** The steps, in order. The audit log is last: after an interrupted erasure it still shows what is left to erase. */
const ERASURE_STEPS: readonly ((tx: Tx, piece: Piece, username: string) => Erased)[] = [
  ...ENDED_STATUSES.map((status) => (tx: Tx, piece: Piece) => eraseOrders(tx, piece, status)),
  (tx, piece) => erasePastOrders(tx, piece),
  (tx, { account }) => eraseTransferNotes(tx, account),
  (tx, { account }) => erasePayments(tx, account),
  (tx, { account }) => eraseBillingDetails(tx, account),
  (tx, piece) => eraseIdempotencyRecords(tx, piece),
  (tx, piece) => {
    tx.lock(OUTBOX_LOCK);
    return eraseWebhookEvents(tx, piece);
  },
  (tx, piece) => eraseMails(tx, piece),
  (tx, piece, username) => eraseAudit(tx, piece, username, false),
  (tx, piece, username) => eraseAudit(tx, piece, username, true),
];

/** The start of a piece: the step, and the row after which the piece begins. */
export interface Place {
  step: number;
  after: number;
}

export interface EraseHistory extends Place {
  /** One of ErasedUser.accounts. */
  account: number;
  /** Maximum number of rows. */
  limit: number;
}

export interface ErasedPiece {
  rows: number;
  /** Null when nothing is left. */
  next: Place | null;
}

/** Erases one piece of the user's history. Refuses: user_not_erased. */
export function eraseHistory(tx: Tx, command: EraseHistory): ErasedPiece {
  const { account, step, after, limit } = command;
  const user = tx.row(users.byKey, account);
  if (!user || user.erasedAt === null) throw refusal("user_not_erased");
  const { rows, next } = ERASURE_STEPS[step]!(tx, { account, after, limit }, user.username);
  if (next !== null) return { rows, next: { step, after: next } };
  return { rows, next: step + 1 < ERASURE_STEPS.length ? { step: step + 1, after: 0 } : null };
}

/** Erases to whom invoices are made out. Issued invoices keep it: the law wants them kept. */
function eraseBillingDetails(tx: Tx, account: number): Erased {
  const billing = tx.row(billingDetails.byKey, account);
  if (billing) tx.delete(billingDetails, { account });
  return { rows: billing ? 1 : 0, next: null };
}

function eraseMails(tx: Tx, { account, limit }: Piece): Erased {
  tx.lock(OUTBOX_LOCK);
  const rows = deleteMailsOf(tx, account, limit);
  return { rows, next: rows < limit ? null : 0 };
}

function eraseAudit(tx: Tx, piece: Piece, username: string, ofChildren: boolean): Erased {
  const rows = listAuditRows(tx, piece, ofChildren);
  const erased = (text: string | null): string | null => {
    const facts = text === null ? null : (readExactJson(text) as AuditFacts);
    const left = erasedFacts(facts, ofChildren ? username : undefined);
    return left && writeExactJson(left);
  };
  tx.each(rows, (row) => {
    const subject = ofChildren ? row.subject : erasedSubject(row.action, row.subject, username);
    tx.update(auditTable, row, { subject, before: erased(row.before), after: erased(row.after) });
  });
  return { rows: rows.length, next: rows.at(-1)?.seq ?? null };
}

/** Rows of a piece, which take some milliseconds of the writer's time. */
const PIECE_ROWS = 200;

/** Runs a whole erasure. Resolves with what `eraseUser` returned and the number of history rows that were examined. */
export async function eraseWholly(run: {
  user: () => ErasedUser | Promise<ErasedUser>;
  piece: (input: EraseHistory) => ErasedPiece | Promise<ErasedPiece>;
}): Promise<ErasedUser & { rows: number }> {
  const user = await run.user();
  let rows = 0;
  for (const account of user.accounts) {
    for (let place: Place | null = { step: 0, after: 0 }; place !== null;) {
      const piece: ErasedPiece = await run.piece({ account, ...place, limit: PIECE_ROWS });
      rows += piece.rows;
      place = piece.next;
    }
  }
  return { ...user, rows };
}
