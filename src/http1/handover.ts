// A listener whose handler can be replaced while it serves. Each request is answered by the handler that was current
// when it arrived, so that replacing a server loses no request.

import type { Handler } from "./connection.ts";
import type { ConnectionPool } from "./connection-pool.ts";
import { type Address, type Certificate, listen, type Server } from "./listen.ts";
import type { IncomingRequest } from "./request.ts";
import { type AnyResponse, TextResponse, textOf } from "./response.ts";

/** A handler with its requests in flight. */
interface Turn {
  handler: Handler;
  inFlight: number;
  /** Resolved once no request is in flight. Set when the turn has ended. */
  idle: PromiseWithResolvers<void> | null;
}

export interface Handover {
  /** The listener of the next server: to listen on this address sets the next handler. */
  readonly address: Address;
  readonly port: number;
  /** Makes the next handler the current one. Requests that arrive before the first one wait for it. */
  switch(): void;
  /** Accepts no further requests; resolves once those in flight are answered. */
  stop(): Promise<void>;
}

/** What becomes of a request: a server gets it, perhaps changed, or none does. */
export type Admission = { refused: AnyResponse } | { request: IncomingRequest; end: () => void };

/**
 * Listens on an address for servers that follow each other. Throws when the address cannot be listened on. `admit`
 * decides about each request; the `end` of an admitted one is called once its response is complete.
 */
export function createHandover(
  address: Address,
  certificate: Certificate | null,
  connections: ConnectionPool,
  admit: (request: IncomingRequest) => Admission,
  bodyLimitBytes: number,
): Handover {
  let current: Turn | null = null;
  let next: Turn | null = null;
  const first = Promise.withResolvers<void>();
  const begun = async () => {
    await first.promise;
    return current!;
  };
  const shared: Handler = {
    handle(sent) {
      const admission = admit(sent);
      if ("refused" in admission) return admission.refused;
      return current ? during(current, admission) : begun().then((turn) => during(turn, admission));
    },
    refuse: (status) => current?.handler.refuse(status) ?? new TextResponse(status, "", "", true),
    fail: (error) => current?.handler.fail(error) ?? new TextResponse(500, "", "", true),
    bodyLimitBytes,
  };
  const server = listen(shared, address, certificate, connections);
  const serve = (handler: Handler): Server => {
    const turn: Turn = { handler, inFlight: 0, idle: null };
    next = turn;
    return {
      hostname: server.hostname,
      port: server.port,
      reload: (renewed) => server.reload(renewed),
      async stop() {
        turn.idle ??= Promise.withResolvers();
        if (turn.inFlight === 0) turn.idle.resolve();
        await turn.idle.promise;
      },
    };
  };
  return {
    address: { ...address, serve },
    port: server.port,
    switch() {
      current = next;
      first.resolve();
    },
    stop: () => server.stop(),
  };
}

type Admitted = Exclude<Admission, { refused: AnyResponse }>;

/** Answers a request by the turn's handler, and counts it until its response is complete. */
function during(
  turn: Turn,
  { request, end: endAdmission }: Admitted,
): AnyResponse | Promise<AnyResponse> {
  turn.inFlight++;
  const end = () => {
    endAdmission();
    turn.inFlight--;
    if (turn.inFlight === 0) turn.idle?.resolve();
  };
  try {
    const response = turn.handler.handle(request);
    if (!(response instanceof Promise)) return untilRead(response, end);
    return response.then(
      (settled) => untilRead(settled, end),
      (error: unknown) => {
        end();
        throw error;
      },
    );
  } catch (error) {
    end();
    throw error;
  }
}

/** Calls `end` once the response needs its server no longer: at once, or at the end of a streamed body. */
function untilRead(response: AnyResponse, end: () => void): AnyResponse {
  if (textOf(response) !== undefined) {
    end();
    return response;
  }
  const { body, status, headers } = response as Response;
  const reader = body!.getReader();
  const counted = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { value, done } = await reader.read();
        if (!done) return controller.enqueue(value);
        end();
        controller.close();
      } catch (error) {
        end();
        throw error;
      }
    },
    async cancel(reason) {
      end();
      await reader.cancel(reason);
    },
  });
  return new Response(counted, { status, headers });
}
