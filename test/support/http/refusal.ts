// What every refusal has in common, asserted in one place.

import { expect } from "bun:test";
import { Refusal, type RefusalCode } from "../../../src/domain/values/error-table.ts";
import { type Market, MARKER } from "../seeds/market.ts";
import type { Answer } from "./api.ts";
import type { TestDatabase } from "../databases/test-database.ts";

export interface Sent {
  method: string;
  path: string;
  key?: string | null;
  body?: unknown;
  headers?: Record<string, string>;
}

/**
 * Sends the request with MARKER in its query, a header and (of an object) its body, and expects exactly this
 * refusal: the envelope and nothing else, nothing echoed, nothing changed.
 */
export async function expectRefusal(
  market: Market,
  { method, path, key, body, headers }: Sent,
  status: number,
  message: string,
  members: Record<string, unknown> = {},
): Promise<Answer> {
  const before = market.fingerprint();
  const isFields = typeof body === "object" && body !== null && !Array.isArray(body);
  const answer = await market.call(
    method,
    `${path}${path.includes("?") ? "&" : "?"}${MARKER}=${MARKER}`,
    key,
    isFields ? { ...body, [MARKER]: MARKER } : body,
    { "x-marker": MARKER, ...headers },
  );
  expectError(answer, status, message, members);
  expectEnvelope(answer);
  expect(market.fingerprint()).toBe(before);
  return answer;
}

/** Exactly this error: its message and members, a code, the request's id, and the field if it is about one. */
export function expectError(
  answer: Answer,
  status: number,
  message: string,
  members: Record<string, unknown> = {},
): void {
  const { code, requestId, field, ...rest } = answer.body;
  expect([answer.status, rest]).toEqual([status, { status: "error", message, ...members }]);
  expect(code).toMatch(/^[a-z_]+$/);
  expect(requestId).toBe(answer.headers.get("x-request-id"));
  if (field !== undefined) expect(message).toStartWith(`${field} `);
}

/** JSON, with a request id, and nothing of what the caller sent. */
export function expectEnvelope(answer: Answer): void {
  expect(answer.headers.get("content-type")).toBe("application/json");
  expect(answer.headers.get("x-request-id")).toMatch(/^[A-Za-z0-9._-]{1,128}$/);
  expect(answer.text + JSON.stringify([...answer.headers])).not.toContain(MARKER);
}

/** The code of the refusal that `body` ends in, having changed nothing; null when it is done. */
export function refusalCode(body: () => unknown, database?: TestDatabase): RefusalCode | null {
  const before = database?.fingerprint();
  try {
    body();
    return null;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    expect(database?.fingerprint()).toBe(before!);
    return error.code;
  }
}
