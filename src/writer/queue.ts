// The queue of the writer: commands that wait, and the batch that is in flight in the writer thread.

import { Refusal, refusal } from "../domain/refusals.ts";
import { createCommandIds } from "../operations/command-ids.ts";
import type {
  CommandInput,
  CommandName,
  CommandOutput,
  CommandRequest,
  Reply,
} from "../operations/commands.ts";

/** Commands in one transaction: bounds how long the commit of a batch, and so each response, can take. */
const BATCH_LIMIT = 512;

/** An internal error of an operation, or its outcome was lost with the thread. The message is for the log only. */
export class CommandError extends Error {
  override name = "CommandError";

  /** `outcome_unknown`: it may have been committed. */
  constructor(
    message: string,
    readonly code: "outcome_unknown" | "" = "",
  ) {
    super(message);
  }
}

export interface CommandQueue {
  /** Commands that wait; those in flight are not counted. */
  length(): number;
  /** Whether the thread is running a batch. */
  isInFlight(): boolean;
  add<Name extends CommandName>(
    name: Name,
    input: CommandInput<Name>,
  ): Promise<CommandOutput<Name>>;
  /** Takes the next batch, which is in flight from now on; empty when nothing waits. */
  takeBatch(): CommandRequest[];
  /** Ends the batch in flight. The returned `settle` settles its promises. */
  endBatch(): { length: number; settle(replies: readonly Reply[]): void };
  /** After the thread has died. */
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
