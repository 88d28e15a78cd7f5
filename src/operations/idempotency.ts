// Orders and recharges that carry an Idempotency-Key: one effect for a request and all its duplicates.
// What a key did is written in the transaction that did it, with the answer where that is known by then.

import { refusal } from "../domain/errors.ts";
import {
  type Claim,
  type StoredResponse,
  IDEMPOTENCY_RETENTION_MS,
} from "../domain/idempotency.ts";
import type { Tx } from "../db/connection.ts";
import {
  deleteIdempotencyRecords,
  type Effect,
  findIdempotencyRecord,
  insertIdempotencyRecord,
  type IdempotencyRecord,
  updateIdempotencyResponse,
} from "../db/idempotency.ts";
import type { CallerKey } from "../db/keys.ts";
import { readUptime } from "../db/uptime.ts";
import type { Permission } from "../domain/keys.ts";
import { requireCaller } from "./callers.ts";
import type { Context } from "./context.ts";

/** What a request with a key comes to. Without an answer: what it did, for its caller to wait for. */
export type Outcome<Effect> = { replayed: boolean } & (
  { answer: StoredResponse } | { answer: null; effect: Effect }
);

/** Whose claim it is, and what its key must permit. */
export interface Claimant {
  keyId: string;
  resellerAccount: number;
  permission: Permission;
  claim: Claim;
}

/** An operation as `once` runs it. */
export interface IdempotentOperation<Result> {
  /** Does it, for a key that has been checked. */
  run(caller: CallerKey): Done<Result>;
  /** What was done, as it is now: for a duplicate of a request that has no response. */
  current(record: IdempotencyRecord): Result;
}

export interface Done<Result> {
  result: Result;
  /** What the record refers to; null: nothing was done, so nothing is remembered. */
  effect: Effect | null;
  /** The body of the 200; null where it is known only after the transaction. */
  body: object | null;
}

/** Runs an operation unless an earlier request with the claim did. Refuses what requireCaller refuses, then idempotency_key_reused, then what it refuses. docs/specification.md#idempotency-record. */
export function once<Result>(
  tx: Tx,
  { keyId, resellerAccount, permission, claim }: Claimant,
  operation: IdempotentOperation<Result>,
  context: Context,
): Outcome<Result> {
  const caller = requireCaller(tx, keyId, permission, context);
  const earlier = findDuplicate(tx, resellerAccount, claim);
  if (earlier?.answer) return { replayed: true, answer: earlier.answer };
  if (earlier) return { replayed: true, answer: null, effect: operation.current(earlier) };
  const { result, effect, body } = operation.run(caller);
  const answer = body && { status: 200, body: JSON.stringify(body) };
  if (effect) insertIdempotencyRecord(tx, resellerAccount, claim, effect, answer, context.now);
  return answer ? { replayed: false, answer } : { replayed: false, answer, effect: result };
}

export interface RecordResponse {
  resellerAccount: number;
  key: string;
  answer: StoredResponse;
}

/** Keeps the answer of an order that was waited for, before it is given. The first one stays. */
export function recordResponse(tx: Tx, command: RecordResponse): null {
  updateIdempotencyResponse(tx, command.resellerAccount, command.key, command.answer);
  return null;
}

export interface ExpireIdempotencyRecords {
  /** How many at most, so that no order waits for long behind this. */
  limit: number;
}

/** Forgets keys since whose use the service has run for long enough; returns how many. */
export function expireIdempotencyRecords(tx: Tx, command: ExpireIdempotencyRecords): number {
  return deleteIdempotencyRecords(tx, readUptime(tx) - IDEMPOTENCY_RETENTION_MS, command.limit);
}

/** What the key did before; undefined when it is new. Refuses: idempotency_key_reused. */
function findDuplicate(
  tx: Tx,
  resellerAccount: number,
  claim: Claim,
): IdempotencyRecord | undefined {
  const used = findIdempotencyRecord(tx, resellerAccount, claim.key);
  if (used && used.requestHash !== claim.requestHash) throw refusal("idempotency_key_reused");
  return used;
}
