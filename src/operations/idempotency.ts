// Orders and recharges with an Idempotency-Key: one effect for a request and all its duplicates.
// The idempotency record is written in the transaction of the effect, with the response if it is known by then.

import { refusal } from "../domain/refusals.ts";
import {
  type Claim,
  type StoredResponse,
  IDEMPOTENCY_RETENTION_MS,
} from "../domain/idempotency.ts";
import type { Tx } from "../db/sqlite/connection.ts";
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

/** The outcome of a request with a claim. Without a response: its effect, whose response the caller must wait for. */
export type Outcome<Effect> = { replayed: boolean } & (
  { response: StoredResponse } | { response: null; effect: Effect }
);

/** The caller that makes a claim, and the permission that its API key must have. */
export interface Claimant {
  keyId: string;
  resellerAccount: number;
  permission: Permission;
  claim: Claim;
}

/** An operation as `once` runs it. */
export interface IdempotentOperation<Result> {
  /** Carries it out, for an API key that has been checked. */
  run(caller: CallerKey): Done<Result>;
  /** The current state of the effect: for a duplicate of a request that has no response. */
  current(record: IdempotencyRecord): Result;
}

export interface Done<Result> {
  result: Result;
  /** What the record refers to; null: there was no effect, so no record is written. */
  effect: Effect | null;
  /** The body of the 200; null where it is known only after the transaction. */
  body: object | null;
}

/**
 * Runs an operation unless an earlier request with the same claim did. docs/specification.md#idempotency-record.
 * Refuses what requireCaller refuses, then idempotency_key_reused, then what the operation refuses.
 */
export function once<Result>(
  tx: Tx,
  { keyId, resellerAccount, permission, claim }: Claimant,
  operation: IdempotentOperation<Result>,
  context: Context,
): Outcome<Result> {
  const caller = requireCaller(tx, keyId, permission, context);
  const earlier = findDuplicate(tx, resellerAccount, claim);
  if (earlier?.response) return { replayed: true, response: earlier.response };
  if (earlier) return { replayed: true, response: null, effect: operation.current(earlier) };
  const { result, effect, body } = operation.run(caller);
  const response = body && { status: 200, body: JSON.stringify(body) };
  if (effect) insertIdempotencyRecord(tx, resellerAccount, claim, effect, response, context.now);
  return response ? { replayed: false, response } : { replayed: false, response, effect: result };
}

export interface RecordResponse {
  resellerAccount: number;
  key: string;
  response: StoredResponse;
}

/** Stores the response of an order that was waited for, before it is sent. A stored response is never replaced. */
export function recordResponse(tx: Tx, command: RecordResponse): null {
  updateIdempotencyResponse(tx, command.resellerAccount, command.key, command.response);
  return null;
}

export interface ExpireIdempotencyRecords {
  /** How many at most, so that no order waits long for this command. */
  limit: number;
}

/** Deletes records older than IDEMPOTENCY_RETENTION_MS of uptime; returns how many. */
export function expireIdempotencyRecords(tx: Tx, command: ExpireIdempotencyRecords): number {
  return deleteIdempotencyRecords(tx, readUptime(tx) - IDEMPOTENCY_RETENTION_MS, command.limit);
}

/** The record of an earlier request with the key; undefined when the key is new. Refuses: idempotency_key_reused. */
function findDuplicate(
  tx: Tx,
  resellerAccount: number,
  claim: Claim,
): IdempotencyRecord | undefined {
  const record = findIdempotencyRecord(tx, resellerAccount, claim.key);
  if (record && record.requestHash !== claim.requestHash) throw refusal("idempotency_key_reused");
  return record;
}
