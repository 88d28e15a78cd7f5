// The commands in front of the writer thread: those that wait, and the one batch that the thread works on.

import { Refusal, refusal } from "../domain/errors.ts";
import { createCommandIds } from "../operations/command-ids.ts";
import type {
  CommandInput,
  CommandName,
  CommandOutput,
  Reply,
  Request,
} from "../operations/commands.ts";

/** Commands in one transaction: bounds the time that a read of the next response can lag behind. */
const BATCH_LIMIT = 512;

/** An operation threw something that is not a refusal, or its outcome was lost. The message is for the log only. */
export class CommandError extends Error {
  override name = "CommandError";
}

export interface CommandQueue {
  /** Commands that wait; those in flight are not counted. */
  length(): number;
  /** Whether the thread works on a batch. */
  isInFlight(): boolean;
  add<Name extends CommandName>(
    name: Name,
    input: CommandInput<Name>,
  ): Promise<CommandOutput<Name>>;
  /** The next batch, which is in flight from now on; empty when nothing waits. */
  takeBatch(): Request[];
  /** Ends the batch in flight. Settles its promises once the returned function is called with the replies. */
  endBatch(): { length: number; settle(replies: readonly Reply[]): void };
  /** The thread is gone. */
  rejectAll(cause: string): void;
}

interface QueuedCommand {
  request: Request;
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
      const [unknown, unsent] = [inFlight, waiting];
      inFlight = waiting = [];
      // The thread may have committed its batch; `service_unavailable` would say that it did not.
      for (const { reject } of unknown) reject(new CommandError(cause));
      for (const { reject } of unsent) reject(refusal("service_unavailable"));
    },
  };
}

function settleCommand({ resolve, reject }: QueuedCommand, reply: Reply): void {
  if ("done" in reply) resolve(reply.done as never);
  else if ("refused" in reply) reject(new Refusal(reply.refused, reply.details as never));
  else reject(new CommandError(reply.failed));
}
