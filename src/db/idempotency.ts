// Idempotency records: the effect of each Idempotency-Key, and its response.

import { and, asc, eq, inArray, isNull, lt, sql } from "drizzle-orm";
import type { Claim, StoredResponse } from "../domain/idempotency.ts";
import { type Connection, prepared, type Tx } from "./sqlite/connection.ts";
import { idempotency, uptime } from "./schema.ts";

/**
 * The effect of a request: an order; a batch of orders, with `results` as JSON and its first order as `orderId`; or the
 * transfer of a recharge.
 */
export type Effect = { orderId: number; results?: string } | { transferSeq: number };

export interface IdempotencyRecord {
  requestHash: string;
  orderId: number | null;
  /** The results of a batch as JSON; null otherwise. */
  results: string | null;
  /** Null until the response of the first request is stored. */
  response: StoredResponse | null;
}

const queries = prepared((orm) => {
  const ofKey = and(
    eq(idempotency.resellerAccount, sql.placeholder("resellerAccount")),
    eq(idempotency.key, sql.placeholder("key")),
  );
  const old = orm
    .select({ seq: idempotency.seq })
    .from(idempotency)
    .where(lt(idempotency.uptime, sql.placeholder("before")))
    .orderBy(asc(idempotency.uptime))
    .limit(sql.placeholder("limit"));
  return {
    find: orm
      .select({
        requestHash: idempotency.requestHash,
        orderId: idempotency.orderId,
        results: idempotency.results,
        status: idempotency.responseStatus,
        body: idempotency.responseBody,
      })
      .from(idempotency)
      .where(ofKey)
      .prepare(),
    insert: orm
      .insert(idempotency)
      .values({
        resellerAccount: sql.placeholder("resellerAccount"),
        key: sql.placeholder("key"),
        requestHash: sql.placeholder("requestHash"),
        orderId: sql.placeholder("orderId"),
        transferSeq: sql.placeholder("transferSeq"),
        results: sql.placeholder("results"),
        responseStatus: sql.placeholder("status"),
        responseBody: sql.placeholder("body"),
        createdAt: sql.placeholder("createdAt"),
        uptime: sql`(SELECT ${uptime.milliseconds} FROM ${uptime})`,
      })
      .prepare(),
    setResponse: orm
      .update(idempotency)
      .set({
        responseStatus: sql`${sql.placeholder("status")}`,
        responseBody: sql`${sql.placeholder("body")}`,
      })
      .where(and(ofKey, isNull(idempotency.responseBody)))
      .prepare(),
    deleteOld: orm
      .delete(idempotency)
      .where(inArray(idempotency.seq, old))
      .returning({ seq: idempotency.seq })
      .prepare(),
  };
});

export function findIdempotencyRecord(
  connection: Connection,
  resellerAccount: number,
  key: string,
): IdempotencyRecord | undefined {
  const row = queries(connection).find.get({ resellerAccount, key });
  if (!row) return undefined;
  const { requestHash, orderId, results, status, body } = row;
  return {
    requestHash,
    orderId,
    results,
    response: status === null || body === null ? null : { status, body },
  };
}

export function insertIdempotencyRecord(
  tx: Tx,
  resellerAccount: number,
  claim: Claim,
  effect: Effect,
  response: StoredResponse | null,
  createdAt: number,
): void {
  queries(tx).insert.run({
    resellerAccount,
    ...claim,
    orderId: "orderId" in effect ? effect.orderId : null,
    transferSeq: "transferSeq" in effect ? effect.transferSeq : null,
    results: "results" in effect ? effect.results : null,
    status: response?.status ?? null,
    body: response?.body ?? null,
    createdAt,
  });
}

/** Does nothing when the record already has a response. */
export function updateIdempotencyResponse(
  tx: Tx,
  resellerAccount: number,
  key: string,
  response: StoredResponse,
): void {
  queries(tx).setResponse.run({ resellerAccount, key, ...response });
}

/** Deletes at most `limit` records from before that uptime, oldest first; returns how many. */
export function deleteIdempotencyRecords(tx: Tx, before: number, limit: number): number {
  return queries(tx).deleteOld.all({ before, limit }).length;
}
