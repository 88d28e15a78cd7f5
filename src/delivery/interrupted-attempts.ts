// Ends attempts and requests whose process will report no outcome. Attempts and requests of servers that have ended
// become unknown. This is checked before this server starts to send, and every few seconds while it runs. An attempt of
// this server that made no call is queued again: the connection to the database was lost while the attempt's start was
// committed.

import type { SendingAttempt } from "../db/delivery/deliveries.ts";
import { listSending } from "../db/delivery/deliveries.ts";
import { listSendingRequests } from "../db/orders/order-requests.ts";
import { isInterrupted } from "../domain/delivery/deliveries.ts";
import { type OneAtATime, oneAtATime } from "../scheduling/one-at-a-time.ts";
import { NOT_SENT, REQUEST_NOT_SENT, REQUEST_UNKNOWN, SUBMISSION_UNKNOWN } from "./logged.ts";
import type { DeliveryDeps } from "./provider-worker.ts";

const ENDED = "the process ended before the provider's reply was stored";
const NOT_CALLED = "the connection to the database was lost before the call";

/** Marks attempts and requests of servers that have ended as unknown. */
export async function markInterrupted({ writer, log, serverId }: DeliveryDeps): Promise<void> {
  const input = { cause: ENDED, server: serverId };
  for (const order of await writer.submit("markInterruptedUnknown", input)) {
    log.error({ order, cause: ENDED }, SUBMISSION_UNKNOWN);
  }
  for (const request of await writer.submit("markRequestsUnknown", input)) {
    log.error({ request, cause: ENDED }, REQUEST_UNKNOWN);
  }
}

/** Tells which calls this process has in flight: attempts by their order, requests by their number. */
export interface CallsInFlight {
  isInFlight(orderId: number): boolean;
  isRequestInFlight(requestId: number): boolean;
}

/**
 * Creates the check that runs while this server runs. It marks attempts of ended servers as interrupted, and queues
 * again each attempt of this server that has no call in flight.
 */
export function createInterruptionCheck(
  deps: DeliveryDeps,
  inFlight: CallsInFlight,
  isStopping: () => boolean,
): OneAtATime {
  const { store, log, serverId } = deps;
  const check = async () => {
    const sending = await store.read(listSending);
    const requests = await store.read(listSendingRequests);
    // After calls were aborted, an attempt without an outcome may have been sent.
    if (isStopping()) return;
    // The rows were read before inFlight is asked. An attempt that was under way at the read is still in flight or has
    // ended.
    const own = sending.filter(
      ({ server, orderId }) => server === serverId && !inFlight.isInFlight(orderId),
    );
    const ownRequests = requests.filter(
      ({ server, requestId }) => server === serverId && !inFlight.isRequestInFlight(requestId),
    );
    if ([...sending, ...requests].some((each) => isInterrupted(each, serverId))) {
      await markInterrupted(deps);
    }
    for (const attempt of own) await requeue(deps, attempt);
    for (const { requestId } of ownRequests) await requeueRequest(deps, requestId);
  };
  return oneAtATime(() =>
    check().catch((error: unknown) => {
      log.warn({ error: String(error) }, "interrupted attempts could not be marked; trying again");
    }),
  );
}

async function requeue(
  { writer, log, settings }: DeliveryDeps,
  { orderId, attemptId }: SendingAttempt,
): Promise<void> {
  const { placeRetryMs } = settings;
  const result = { outcome: "not_sent", cause: NOT_CALLED, providerNotCalled: true } as const;
  const input = { orderId, attemptId, result, placeRetryMs, backoffMs: 0 };
  await writer.submit("finishAttempt", input);
  log.warn({ order: orderId, cause: NOT_CALLED }, NOT_SENT);
}

async function requeueRequest(
  { writer, log, settings }: DeliveryDeps,
  requestId: number,
): Promise<void> {
  const { pollIntervalMs } = settings;
  const result = { outcome: "not_sent", cause: NOT_CALLED, providerNotCalled: true } as const;
  await writer.submit("finishRequest", { requestId, result, backoffMs: 0, pollIntervalMs });
  log.warn({ request: requestId, cause: NOT_CALLED }, REQUEST_NOT_SENT);
}
