// The queue of the writer: waiting commands, and the batch in flight.

import { Refusal, refusal } from "../domain/values/error-table.ts";
import { createCommandIds } from "../operations/batch/execute.ts";
import type {
  CommandInput,
  CommandName,
  CommandOutput,
  CommandRequest,
  Reply,
} from "../operations/batch/commands.ts";

/** Limit for waiting commands. At 5,000 orders a second they wait less than a second. */
export const QUEUE_LIMIT = 4096;
/** Limit for commands in one transaction. Bounds the time of a batch's commit, and so of each response. */
const BATCH_LIMIT = 512;

/** Thrown after an internal error, or when the thread died before its reply. The message is for the log only. */
export class CommandError extends Error {
  override name = "CommandError";

  /** `outcome_unknown`: the command may have been committed. */
  constructor(
    message: string,
    readonly code: "outcome_unknown" | "" = "",
  ) {
    super(message);
  }
}

export interface CommandQueue {
  /** Number of waiting commands, without those in flight. */
  length(): number;
  isInFlight(): boolean;
  add<Name extends CommandName>(
    name: Name,
    input: CommandInput<Name>,
  ): Promise<CommandOutput<Name>>;
  /** Takes the next batch, which is in flight until endBatch; empty when nothing waits. */
  takeBatch(): CommandRequest[];
  /** Ends the batch in flight. The returned `settle` settles its promises. */
  endBatch(): { length: number; settle(replies: readonly Reply[]): void };
  /** Rejects all commands, after the thread has died or when the database does not accept writes. */
  rejectAll(cause: string): void;
}

interface QueuedCommand {
  request: CommandRequest;
  resolve: (output: never) => void;
  reject: (reason: Error) => void;
}

export function createCommandQueue(): CommandQueue {
  let waiting: QueuedCommand[] = [];
  let inFlight: QueuedCommand[] = [];
  return {
    length: () => waiting.length,
    isInFlight: () => inFlight.length > 0,
    add: (name, input) =>
      new Promise((resolve, reject) => {
        const ids = createCommandIds(name, input);
        waiting.push({ request: { name, input, ids }, resolve, reject });
      }),
    takeBatch() {
      inFlight = waiting.splice(0, BATCH_LIMIT);
      return inFlight.map(({ request }) => request);
    },
    endBatch() {
      const batch = inFlight;
      inFlight = [];
      const settle = (replies: readonly Reply[]) => {
        for (const [index, queued] of batch.entries()) settleCommand(queued, replies[index]!);
      };
      return { length: batch.length, settle };
    },
    rejectAll(cause) {
      const [unknown, notSent] = [inFlight, waiting];
      inFlight = waiting = [];
      // The thread may have committed its batch, but `service_unavailable` means that nothing was done.
      for (const { reject } of unknown) reject(new CommandError(cause));
      for (const { reject } of notSent) reject(refusal("service_unavailable"));
    },
  };
}

function settleCommand({ resolve, reject }: QueuedCommand, reply: Reply): void {
  if ("done" in reply) resolve(reply.done as never);
  else if ("refused" in reply) reject(new Refusal(reply.refused, reply.details as never));
  else reject(new CommandError(reply.failed, reply.code));
}
