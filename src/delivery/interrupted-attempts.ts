// Attempts without an outcome whose process will report none. Those of servers that ended become unknown: at the start,
// which waits for it, and while this server runs. One of this server that it never called for is queued again: whether
// its start was committed was not known, because the connection was lost.

import type { SendingAttempt } from "../db/deliveries.ts";
import { listSending } from "../db/deliveries.ts";
import { listSendingRequests } from "../db/order-requests.ts";
import { isInterrupted } from "../domain/deliveries.ts";
import { type OneAtATime, oneAtATime } from "./one-at-a-time.ts";
import type { DeliveryDeps } from "./provider-worker.ts";

const ENDED = "the process ended before the provider's reply was stored";
const NOT_CALLED = "the connection to the database was lost before the call";

/** Attempts of servers that ended before this one started. */
export async function markInterrupted({ writer, log, serverId }: DeliveryDeps): Promise<void> {
  const input = { cause: ENDED, server: serverId };
  for (const order of await writer.submit("markInterruptedUnknown", input)) {
    log.error({ order, cause: ENDED }, "submission unknown: settle it by hand");
  }
  for (const request of await writer.submit("markRequestsUnknown", input)) {
    log.error({ request, cause: ENDED }, "request unknown: decide it by hand");
  }
}

/** What this process has under way: attempts by their order, requests by their number. */
export interface CallsInFlight {
  isInFlight(orderId: number): boolean;
  isRequestInFlight(requestId: number): boolean;
}

/** The same while this server runs. */
export function createInterruptionCheck(
  deps: DeliveryDeps,
  inFlight: CallsInFlight,
  isStopping: () => boolean,
): OneAtATime {
  const { store, clock, log, serverId } = deps;
  const check = async () => {
    const now = clock.now();
    const sending = await store.read((reader) => listSending(reader, now));
    const requests = await store.read((reader) => listSendingRequests(reader, now));
    // Once calls are aborted, attempts that were sent may be left without an outcome.
    if (isStopping()) return;
    // Read before: an attempt under way then has ended, or is still in flight.
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
      log.warn({ error: String(error) }, "interrupted attempts were not marked, tried again");
    }),
  );
}

async function requeue(
  { writer, log, settings }: DeliveryDeps,
  { orderId, attemptId }: SendingAttempt,
): Promise<void> {
  const { placeRetryMs } = settings;
  const result = { outcome: "not_sent", cause: NOT_CALLED, isUncalled: true } as const;
  const input = { orderId, attemptId, result, placeRetryMs, backoffMs: 0 };
  await writer.submit("finishAttempt", input);
  log.warn({ order: orderId, cause: NOT_CALLED }, "not sent, tried again later");
}

async function requeueRequest(
  { writer, log, settings }: DeliveryDeps,
  requestId: number,
): Promise<void> {
  const { pollIntervalMs } = settings;
  const result = { outcome: "not_sent" as const, cause: NOT_CALLED };
  await writer.submit("finishRequest", { requestId, result, backoffMs: 0, pollIntervalMs });
  log.warn({ request: requestId, cause: NOT_CALLED }, "a request was not sent, tried again later");
}
