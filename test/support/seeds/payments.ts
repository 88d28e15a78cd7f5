// A reseller with a member, and methods to pay by.

import { memberAuthor } from "../../../src/domain/members/members.ts";
import type { Actor } from "../../../src/domain/ledger/ledger.ts";
import type {
  CommandInput,
  CommandName,
  CommandOutput,
} from "../../../src/operations/batch/commands.ts";
import type { MethodTerms } from "../../../src/operations/payments/payment-methods.ts";
import { OPERATOR, type TestDatabase } from "../databases/test-database.ts";

export const DOLLAR = 1_000_000;

export const TERMS: MethodTerms = {
  names: JSON.stringify({ en: "Bank" }),
  instructions: JSON.stringify({ en: "Pay to account 1" }),
  minMicros: DOLLAR,
  maxMicros: 10_000 * DOLLAR,
  feePpm: 0,
  feeFixedMicros: 0,
  feePayer: "customer",
  bonusSteps: "[]",
  rateToUsd: "1",
  settings: "{}",
  active: true,
};

export type PaymentDatabase = Pick<TestDatabase, "run" | "execute" | "query" | "user">;

/** A member of the reseller, which is made if it is missing. */
export function seedMember(database: PaymentDatabase, username = "alice"): Actor {
  if (database.query(`SELECT 1 AS one FROM users WHERE username = '${username}'`).length === 0) {
    database.user(username);
  }
  const email = `owner@${username}.example`;
  const invitationHash = Bun.SHA256.hash(email, "hex");
  const invitation = { email, name: null, role: "owner", language: "en", invitationHash } as const;
  const id = database.run("inviteMember", { username, ...invitation });
  database.run("acceptInvitation", { site: "portal", invitationHash, passwordHash: "p" });
  return { keyId: null, operator: memberAuthor(id) };
}

export function seedMethod(
  database: PaymentDatabase,
  methodId: string,
  kind: string,
  terms: Partial<MethodTerms> = {},
  currency = "USD",
): void {
  const all = { ...TERMS, ...terms };
  database.run("createPaymentMethod", {
    methodId,
    kind,
    currency,
    terms: all,
    known: [],
    resellers: null,
    actor: OPERATOR,
  });
}

let asked = 0;

/** A payment as a member asks for it; returns its id. */
export function askPayment(
  {
    execute,
  }: {
    execute: <Name extends CommandName>(
      name: Name,
      input: CommandInput<Name>,
      now: number,
    ) => CommandOutput<Name>;
  },
  {
    methodId,
    actor,
    amount = 10,
    now,
  }: { methodId: string; actor: Actor; amount?: number; now: number },
): string {
  asked += 1;
  const requestKey = `form-${asked}`;
  const amountMicros = amount * DOLLAR;
  return execute("createPayment", { methodId, amountMicros, requestKey, actor }, now).id;
}
