// Who may be the author of which command. A command that is not in the table is for the operator only, so a new one is
// closed to members, keys and servers until it is entered here. What a role allows is checked by the operations.

import { type AuthorKind, authorKindOf } from "../../domain/administrators/authors.ts";
import type { Actor } from "../../domain/ledger/ledger.ts";
import { refusal } from "../../domain/values/error-table.ts";
import type { commands } from "./command-table.ts";

const OPERATOR: readonly AuthorKind[] = ["administrator", "person"];
const MEMBER: readonly AuthorKind[] = ["member"];
const ALL_OWN: readonly AuthorKind[] = [...OPERATOR, "member"];

const AUTHORS: Partial<Record<keyof typeof commands, readonly AuthorKind[]>> = {
  // The members' own side of what the operator does by other commands.
  placeMemberOrder: MEMBER,
  placeMemberOrders: MEMBER,
  makeMemberRequest: MEMBER,
  createPayment: MEMBER,
  claimPayment: MEMBER,
  createOwnKey: MEMBER,
  rotateOwnKey: MEMBER,
  deactivateOwnKey: MEMBER,
  openOwnTestAccount: MEMBER,
  inviteOwnMember: MEMBER,
  resetOwnMember: MEMBER,
  setOwnMemberRole: MEMBER,
  setOwnMemberActive: MEMBER,
  updateMember: MEMBER,
  setLowBalance: MEMBER,
  proveAddress: MEMBER,
  // Signing in, of administrators and members.
  setPassword: ALL_OWN,
  enableSecondFactor: ALL_OWN,
  removeSecondFactor: ALL_OWN,
  revokeSessions: ALL_OWN,
  // Webhooks of a reseller.
  createWebhook: [...ALL_OWN, "key"],
  updateWebhook: [...ALL_OWN, "key"],
  deleteWebhook: [...ALL_OWN, "key"],
  rotateWebhook: [...ALL_OWN, "key"],
  testWebhook: [...ALL_OWN, "key"],
  replayWebhook: [...ALL_OWN, "key"],
  enableWebhook: ALL_OWN,
  disableWebhook: ALL_OWN,
  // The seller that a server is started with.
  setInvoicing: [...OPERATOR, "server"],
};

/** Returns the kinds of authors that may run a command. */
export function authorsOf(name: keyof typeof commands): readonly AuthorKind[] {
  return AUTHORS[name] ?? OPERATOR;
}

/** Refuses a command whose author may not run it. Refuses: member_not_allowed, administrator_not_allowed. */
export function refuseAuthor(name: keyof typeof commands, input: unknown): void {
  const actor = (input as { actor?: Actor } | null | undefined)?.actor;
  if (actor === undefined) return;
  const kind = authorKindOf(actor);
  const authors = authorsOf(name);
  if (authors.includes(kind)) return;
  const isForMembers = authors === MEMBER || kind === "member";
  throw refusal(isForMembers ? "member_not_allowed" : "administrator_not_allowed");
}
