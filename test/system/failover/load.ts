// Servers under load: the compiled program over HTTP, or the store alone where a control needs a store of its own.

import type { Ask } from "./audit.ts";
import type { Journal } from "./journal.ts";

export interface Server {
  /** Lets it finish what it has begun. */
  stop(): Promise<void>;
  /** Between two instructions. */
  kill(): Promise<void>;
  freeze(): void;
  thaw(): void;
}

export interface Load {
  /** Longer than it waits for an answer of PostgreSQL. */
  frozenMs: number;
  /** A server and its callers. `place`: which of the servers it is. */
  start(journal: Journal, place: number): Promise<Server>;
  /** Sends again what its callers would, until that is answered, and stops. */
  settle(journal: Journal): Promise<void>;
  /** How many orders were passed on to the provider. */
  submitted(): number;
  /** What is wrong that the journal does not show. */
  problems(ask: Ask): Promise<string[]>;
}

export interface LoadOptions {
  /** As an operator writes it, with all its hosts. */
  address: string;
  /** Another way to it for the servers; none: the same. */
  serverAddress?: string;
  seed: number;
  /** The program that a server runs, asked at each start; none: this version's. */
  binaryOf?: (place: number) => string;
  /** The control: a batch whose COMMIT is lost is run again without asking. */
  isForgetful?: boolean;
}
