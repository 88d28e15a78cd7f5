// Requests with an Idempotency-Key. The writer decides what is a duplicate; here duplicates that arrive while the
// first is still being answered wait for it, so that all get the same answer. docs/specification.md#idempotency-concurrent.

import { Refusal } from "../domain/errors.ts";
import {
  type Claim,
  type StoredResponse,
  hashRequest,
  isIdempotencyKey,
  KEY_FORM,
} from "../domain/idempotency.ts";
import type { Outcome } from "../operations/idempotency.ts";
import type { Logger } from "../monitoring/log.ts";
import type { Writer } from "../writer/writer.ts";
import { type Call, PreparedResponse } from "./endpoint.ts";
import { errorResponseOf, errorBody } from "./errors.ts";

const HEADER = "idempotency-key";
/** Read from the text: a Host header that makes no address would throw in `new URL`. */
const PATH = /^[a-z]+:\/\/[^/]*([^?#]*)/;

/** The requests with a key that are being answered now, and what to wait for. */
export type InFlight = Map<string, Promise<void>>;

export interface ClaimDeps {
  writer: Pick<Writer, "submit">;
  log: Pick<Logger, "warn">;
  inFlight: InFlight;
}

/** The claim a request makes with its key; null without one. `body` is what was sent. Refuses: field_invalid. */
export function claimOf(request: Request, body: Uint8Array): Claim | null {
  const key = request.headers.get(HEADER);
  if (key === null) return null;
  if (!isIdempotencyKey(key)) {
    throw new Refusal("field_invalid", { field: "Idempotency-Key", must: KEY_FORM });
  }
  const path = PATH.exec(request.url)?.[1] ?? "";
  return { key, requestHash: hashRequest(request.method, path, body) };
}

/** Who asks, and under which request id. */
type Caller = { key: Pick<Call["key"], "resellerAccount"> } & Pick<Call, "requestId">;

/**
 * Answers a request that makes a claim. `act` is its command. `asItIs` is the body of a 200 that tells what the
 * command did. `wait` makes the answer that the command alone does not give: it returns the body of a 200 or throws
 * a Refusal, as a handler does.
 */
export async function respondOnce<Effect>(
  deps: ClaimDeps,
  { key, requestId }: Caller,
  claim: Claim,
  act: () => Promise<Outcome<Effect>>,
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
    const { replayed } = outcome;
    if (outcome.response) return new PreparedResponse(outcome.response, replayed);
    // Whoever waited for this ended with its process: what it did, as it is now, is the answer.
    if (replayed) return new PreparedResponse(success(currentResponse(outcome.effect)), replayed);
    const answer = await responseOf(requestId, () => wait(outcome.effect));
    await storeResponse(deps, resellerAccount, claim, answer);
    return new PreparedResponse(answer, replayed);
  } finally {
    inFlight.delete(request);
    resolve();
  }
}

/** The answer that `wait` comes to; its refusals are answers too: the order is there and was refunded. */
async function responseOf(
  requestId: string,
  wait: () => object | Promise<object>,
): Promise<StoredResponse> {
  try {
    return success(await wait());
  } catch (error) {
    const answer = error instanceof Refusal ? errorResponseOf(error) : undefined;
    if (!answer) throw error;
    return { status: answer.status, body: errorBody(answer, requestId) };
  }
}

/** An answer that cannot be kept is given all the same: its duplicates then get the order as it is. */
async function storeResponse(
  { writer, log }: ClaimDeps,
  resellerAccount: number,
  { key }: Claim,
  answer: StoredResponse,
): Promise<void> {
  try {
    await writer.submit("recordResponse", { resellerAccount, key, response: answer });
  } catch (error) {
    log.warn({ error: String(error) }, "the answer to a request with a key could not be kept");
  }
}

function success(body: object): StoredResponse {
  return { status: 200, body: JSON.stringify(body) };
}
