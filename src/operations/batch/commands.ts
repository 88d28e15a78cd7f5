// Runs commands: one in an open transaction, or a batch in one transaction (group commit). HTTP, the command line and
// the writer know commands only by name.

import {
  after,
  type Awaitable,
  type Job,
  type Need,
  type Outcome,
  OutcomeUnknownError,
  type Store,
  TransientError,
  type Tx,
} from "../../db/port/port.ts";
import { Refusal, type RefusalCode } from "../../domain/values/error-table.ts";
import { refuseAuthor } from "./authors.ts";
import type { Command } from "./command.ts";
import { type Context, createContext } from "./context.ts";
import { commands } from "./command-table.ts";

export type CommandName = keyof typeof commands;
export type CommandInput<Name extends CommandName> = Parameters<(typeof commands)[Name]["run"]>[1];
export type CommandOutput<Name extends CommandName> = ReturnType<(typeof commands)[Name]["run"]>;

/** A value after JSON.stringify and JSON.parse; `never` for a bigint, on which JSON.stringify throws. */
type Json<T> = T extends bigint ? never : T extends object ? { [Key in keyof T]: Json<T[Key]> } : T;

/** The commands whose output survives JSON: it is serialized after their COMMIT, when it is too late to throw. */
export type SubmittableName = {
  [Name in CommandName]: CommandOutput<Name> extends Json<CommandOutput<Name>> ? Name : never;
}[CommandName];

export type UnsignedInput<Name extends CommandName> = Omit<CommandInput<Name>, "actor">;

function commandOf(name: CommandName): Command<unknown, unknown> {
  return commands[name] as Command<unknown, unknown>;
}

/**
 * Runs a command inside a transaction that is open. Input and output are plain data. Refuses an author who may not run it.
 */
export function runCommand<Name extends CommandName>(
  tx: Tx,
  name: Name,
  input: CommandInput<Name>,
  context: Context,
): CommandOutput<Name> {
  refuseAuthor(name, input);
  return commandOf(name).run(tx, input, context) as CommandOutput<Name>;
}

/** Returns the maximum number of ids that the command takes. */
export function countIds<Name extends CommandName>(name: Name, input: CommandInput<Name>): number {
  return commandOf(name).ids(input);
}

/** Returns the needs that the command declares: locks, rows to read, and numbers to take. */
export function needsOf<Name extends CommandName>(name: Name, input: CommandInput<Name>): Need[] {
  return commandOf(name).needs(input);
}

export interface CommandRequest {
  name: CommandName;
  input: unknown;
  /** Ids for the rows that the command creates (createCommandIds in execute.ts). */
  ids: string[];
}

/**
 * The result of one command. `refused`: by a rule. `failed`: the text of an internal error, for the log. With `code`,
 * the command may have been committed.
 */
export type Reply =
  | { done: unknown }
  | { refused: RefusalCode; details: unknown }
  | { failed: string; code?: "outcome_unknown" };

/**
 * Runs a batch in one transaction and returns a reply for each command, in order, after the COMMIT. A command that is
 * refused or throws is rolled back; the other commands are not. Throws FatalError, which ends the process. `seed`: a
 * random text from which the ids of events are made.
 */
export function runBatch(
  store: { runBatch(jobs: readonly Job[]): Outcome[] },
  batch: readonly CommandRequest[],
  now: number,
  seed: string,
): Reply[];
export function runBatch(
  store: Store,
  batch: readonly CommandRequest[],
  now: number,
  seed: string,
): Awaitable<Reply[]>;
export function runBatch(
  store: Pick<Store, "runBatch">,
  batch: readonly CommandRequest[],
  now: number,
  seed: string,
): Awaitable<Reply[]> {
  const jobs = batch.map((request, place) => jobOf(request, now, `${seed}.${place}`));
  try {
    return after(store.runBatch(jobs), (outcomes) => outcomes.map(replyTo));
  } catch (error) {
    if (!(error instanceof TransientError)) throw error;
    return batch.map(() => replyTo({ threw: error }));
  }
}

function jobOf({ name, input, ids }: CommandRequest, now: number, seed: string): Job {
  return {
    // The job may run several times, each time with the same ids.
    run: (tx) => runCommand(tx, name, input as never, createContext(now, ids, seed)),
    // A getter, because only PostgreSQL reads it.
    get needs() {
      return needsOf(name, input as never);
    },
  };
}

function replyTo(outcome: Outcome): Reply {
  if ("done" in outcome) return outcome;
  const { threw } = outcome;
  if (threw instanceof Refusal) return { refused: threw.code, details: threw.details };
  if (threw instanceof TransientError) return { refused: "service_unavailable", details: null };
  if (threw instanceof OutcomeUnknownError) return { failed: textOf(threw), code: threw.code };
  return { failed: textOf(threw) };
}

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
