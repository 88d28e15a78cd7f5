// Orders and recharges with an Idempotency-Key: one effect for a request and all its duplicates. The idempotency record
// is written in the transaction of the effect, with the response if it is already known.

import { refusal } from "../../domain/values/error-table.ts";
import {
  type Claim,
  type StoredResponse,
  IDEMPOTENCY_RETENTION_MS,
} from "../../domain/values/idempotency.ts";
import { type Need, needLock, needNumbers, needRow, type Tx } from "../../db/port/port.ts";
import type { Key } from "../../db/users/keys.ts";
import { statement } from "../../db/port/query.ts";
import { number } from "../../db/port/table-definition.ts";
import { idempotency, type IdempotencyRecord, uptime } from "../../db/tables/database.ts";
import type { Permission } from "../../domain/users/keys.ts";
import { requireCaller } from "./callers.ts";
import type { Context } from "./context.ts";

/**
 * The effect of a request, as its record stores it. An order: `orderId`. A batch: `orderId` is its first order,
 * `results` is JSON. A request to cancel or refill: `results` is JSON with its number. A recharge: `transferSeq`.
 */
export type Effect = { orderId: number; results?: string } | { transferSeq: number };

/** The outcome of a request with a claim. When `response` is null, the caller waits for the response of the effect. */
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

/** An operation that `once` can run. `Caller`: who was checked, such as an API key. */
export interface IdempotentOperation<Result, Caller = Key> {
  /**
   * Throws a refusal if the caller may not see the response to an earlier request. Absent: every caller of the reseller
   * may see it.
   */
  refuseReplay?(caller: Caller, record: IdempotencyRecord): void;
  /** Runs the operation. The caller has been checked. */
  run(caller: Caller): Done<Result>;
  /** Returns the current state of the effect, for a duplicate of a request that has no response. */
  current(record: IdempotencyRecord): Result;
}

export interface Done<Result> {
  result: Result;
  /** What the record stores; null: there was no effect, so no record is written. */
  effect: Effect | null;
  /** The body of the 200; null when it is known only after the transaction. */
  body: object | null;
}

/**
 * Runs an operation unless an earlier request with the same claim did. docs/specification/http.md#idempotency-record.
 * Refuses what requireCaller refuses, then idempotency_key_reused, then what refuseReplay or `run` refuses.
 */
export function once<Result>(
  tx: Tx,
  { keyId, resellerAccount, permission, claim }: Claimant,
  operation: IdempotentOperation<Result>,
  context: Context,
): Outcome<Result> {
  const caller = requireCaller(tx, keyId, permission, context);
  return onceFor(tx, caller, { resellerAccount, claim }, operation, context);
}

/** Runs an operation as `once` does, for a caller who has been checked. Refuses what `once` refuses after that. */
export function onceFor<Result, Caller>(
  tx: Tx,
  caller: Caller,
  { resellerAccount, claim }: Pick<Claimant, "resellerAccount" | "claim">,
  operation: IdempotentOperation<Result, Caller>,
  context: Context,
): Outcome<Result> {
  const earlier = findDuplicate(tx, resellerAccount, claim);
  if (earlier) operation.refuseReplay?.(caller, earlier);
  const stored = earlier && responseOf(earlier);
  if (stored) return { replayed: true, response: stored };
  if (earlier) return { replayed: true, response: null, effect: operation.current(earlier) };
  const { result, effect, body } = operation.run(caller);
  const response = body && { status: 200, body: JSON.stringify(body) };
  if (effect) {
    tx.insert(idempotency, {
      resellerAccount,
      key: claim.key,
      requestHash: claim.requestHash,
      ...effect,
      responseStatus: response && response.status,
      responseBody: response && response.body,
      createdAt: context.now,
      uptime: readUptime(tx),
    });
  }
  return response ? { replayed: false, response } : { replayed: false, response, effect: result };
}

/** Returns what `once` needs for a claim. */
export function needsOfClaim(resellerAccount: number, { key }: Pick<Claim, "key">): Need[] {
  return [
    needLock(resellerAccount),
    needRow(idempotency.byReseller, resellerAccount, key),
    needRow(uptime.byKey, 1),
    needNumbers(idempotency),
  ];
}

export interface RecordResponse {
  resellerAccount: number;
  key: string;
  response: StoredResponse;
}

/**
 * Stores the response of an order whose outcome was awaited, before it is sent. A stored response is never replaced.
 */
export function recordResponse(tx: Tx, command: RecordResponse): null {
  const record = tx.row(idempotency.byReseller, command.resellerAccount, command.key);
  if (!record || responseOf(record)) return null;
  const { status, body } = command.response;
  tx.update(idempotency, record, { responseStatus: status, responseBody: body });
  return null;
}

export function needsOfRecordResponse({ resellerAccount, key }: RecordResponse): Need[] {
  return [needLock(resellerAccount), needRow(idempotency.byReseller, resellerAccount, key)];
}

export interface ExpireIdempotencyRecords {
  /** Maximum number of records, so that no order waits long for this command. */
  limit: number;
}

/** Deletes records older than IDEMPOTENCY_RETENTION_MS of uptime. Returns how many. */
export function expireIdempotencyRecords(tx: Tx, command: ExpireIdempotencyRecords): number {
  const before = readUptime(tx) - IDEMPOTENCY_RETENTION_MS;
  return tx.run(DELETE_OLD, { before, limit: command.limit });
}

const DELETE_OLD = statement({
  parameters: { before: number, limit: number },
  writes: [idempotency],
  text: `DELETE FROM idempotency WHERE seq IN (
    SELECT seq FROM idempotency WHERE uptime < :before ORDER BY uptime LIMIT :limit)`,
});

/** Returns the uptime in milliseconds. */
function readUptime(tx: Tx): number {
  return tx.row(uptime.byKey, 1)!.milliseconds;
}

/** Returns the stored response; null while the first request has none. */
function responseOf({ responseStatus, responseBody }: IdempotencyRecord): StoredResponse | null {
  if (responseStatus === null || responseBody === null) return null;
  return { status: responseStatus, body: responseBody };
}

/** Returns the record of an earlier request with the key. Refuses: idempotency_key_reused. */
function findDuplicate(
  tx: Tx,
  resellerAccount: number,
  claim: Claim,
): IdempotencyRecord | undefined {
  const record = tx.row(idempotency.byReseller, resellerAccount, claim.key);
  if (record && record.requestHash !== claim.requestHash) throw refusal("idempotency_key_reused");
  return record;
}
