// Requests with an Idempotency-Key. The writer decides what is a duplicate. Here, duplicates that arrive while the
// first is in flight wait for it, so that all get the same response. docs/specification/http.md#idempotency-concurrent.

import { Refusal } from "../../domain/values/error-table.ts";
import {
  type Claim,
  type StoredResponse,
  hashRequest,
  isIdempotencyKey,
  KEY_FORM,
} from "../../domain/values/idempotency.ts";
import type { IncomingRequest } from "../../http1/request.ts";
import type { Outcome } from "../../operations/batch/idempotency.ts";
import type { Logger } from "../../monitoring/log.ts";
import type { Writer } from "../../writer/writer.ts";
import { type Call, PreparedResponse } from "./endpoint.ts";
import { errorResponseOf, errorBody } from "./errors.ts";

const HEADER = "idempotency-key";
/** The path without its query. */
const PATH = /^[^?#]*/;

/** The requests with an Idempotency-Key in flight; each promise resolves when its request ends. */
export type InFlight = Map<string, Promise<void>>;

export interface ClaimDeps {
  writer: Pick<Writer, "submit">;
  log: Pick<Logger, "warn">;
  inFlight: InFlight;
}

/**
 * Returns the claim that a request makes with its Idempotency-Key; null without one. `body` is what was sent.
 * Refuses: field_invalid.
 */
export function readClaim(request: IncomingRequest, body: Uint8Array): Claim | null {
  const key = request.headers.get(HEADER);
  if (key === null) return null;
  if (!isIdempotencyKey(key)) {
    throw new Refusal("field_invalid", { field: "Idempotency-Key", must: KEY_FORM });
  }
  const path = PATH.exec(request.path)![0];
  return { key, requestHash: hashRequest(request.method, path, body) };
}

/** What the response needs of the call: the caller's account and the request id. */
type Caller = { key: Pick<Call["key"], "resellerAccount"> } & Pick<Call, "requestId">;

/**
 * Responds to a request that makes a claim. `act` submits its command. If the result is a text, it is the body of the
 * 200. `currentResponse` makes the body of a 200 from the command's effect. `wait` makes the final response if that
 * takes more than the command (an order waits for its provider). It returns the body of a 200 or throws a Refusal, as a
 * handler does.
 */
export async function respondOnce<Effect>(
  deps: ClaimDeps,
  { key, requestId }: Caller,
  claim: Claim,
  act: () => Promise<Outcome<Effect> | string>,
  currentResponse: (effect: Effect) => object,
  wait: (effect: Effect) => object | Promise<object> = currentResponse,
): Promise<PreparedResponse> {
  const { inFlight } = deps;
  const { resellerAccount } = key;
  const request = `${resellerAccount} ${claim.requestHash} ${claim.key}`;
  while (inFlight.has(request)) await inFlight.get(request);
  const { promise, resolve } = Promise.withResolvers<void>();
  inFlight.set(request, promise);
  try {
    const outcome = await act();
    if (typeof outcome === "string") return new PreparedResponse(ok(outcome), false);
    const { replayed } = outcome;
    if (outcome.response) return new PreparedResponse(outcome.response, replayed);
    // The first process died before it stored a response: return the order's current state.
    if (replayed) return new PreparedResponse(success(currentResponse(outcome.effect)), replayed);
    const response = await responseOf(requestId, () => wait(outcome.effect));
    await storeResponse(deps, resellerAccount, claim, response);
    return new PreparedResponse(response, replayed);
  } finally {
    inFlight.delete(request);
    resolve();
  }
}

/** Returns the response that `wait` leads to. A refusal is stored too: its order exists and was refunded. */
async function responseOf(
  requestId: string,
  wait: () => object | Promise<object>,
): Promise<StoredResponse> {
  try {
    return success(await wait());
  } catch (error) {
    const response = error instanceof Refusal ? errorResponseOf(error) : undefined;
    if (!response) throw error;
    return { status: response.status, body: errorBody(response, requestId) };
  }
}

/**
 * Stores a response for duplicates. If that fails, the response is sent anyway; duplicates get the order's current
 * state.
 */
async function storeResponse(
  { writer, log }: ClaimDeps,
  resellerAccount: number,
  { key }: Claim,
  response: StoredResponse,
): Promise<void> {
  try {
    await writer.submit("recordResponse", { resellerAccount, key, response });
  } catch (error) {
    log.warn({ error: String(error) }, "the response of an idempotency record could not be stored");
  }
}

function success(body: object): StoredResponse {
  return ok(JSON.stringify(body));
}

function ok(body: string): StoredResponse {
  return { status: 200, body };
}
