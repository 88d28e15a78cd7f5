// What weakens the durability of acknowledged orders, as `serve` and `doctor` name it, and the difference of the clocks.

import { type Address, isSocket } from "./address.ts";
import type { Conditions } from "./conditions.ts";

/** A clock that differs more from the database's makes times of several servers hard to compare. */
export const CLOCK_WARN_MS = 2000;
/** A third of a server's lease: beyond it other servers would consider this one dead too early, or too late. */
export const CLOCK_LIMIT_MS = 10_000;

const WEAK_COMMIT = /^(off|local|remote_write)$/;
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1)$/i;

export type Condition = "fsync" | "commit" | "standby" | "encryption";

/** What weakens the promise, a sentence each. */
export function weaknesses(address: Address, conditions: Conditions): string[] {
  return [...weaknessesOf(address, conditions).values()];
}

/** The same by what it is about. */
export function weaknessesOf(address: Address, conditions: Conditions): Map<Condition, string> {
  const { synchronousCommit, synchronousStandbys, fsync, isEncrypted } = conditions;
  const found = new Map<Condition, string>();
  if (!fsync) found.set("fsync", "fsync is off: a power cut damages the database");
  if (WEAK_COMMIT.test(synchronousCommit)) {
    found.set(
      "commit",
      `synchronous_commit is ${synchronousCommit}: reseller sets it to on for itself, other programs lose commits`,
    );
  }
  if (synchronousStandbys.trim() === "") {
    found.set(
      "standby",
      "synchronous_standby_names is empty: orders that were acknowledged may be lost with the machine of the database",
    );
  }
  const isElsewhere = address.hosts.some(
    (host) => !isSocket(host) && !LOOPBACK.test(host.hostname),
  );
  if (isElsewhere && !isEncrypted) {
    found.set(
      "encryption",
      "the connection is not encrypted and leaves this machine: use sslmode=verify-full",
    );
  } else if (isElsewhere && address.sslMode !== "verify-full") {
    found.set(
      "encryption",
      "the certificate of the database is not checked: use sslmode=verify-full",
    );
  }
  return found;
}

/** Every commit waits until a standby is back. */
export function isWithoutStandby({ synchronousStandbys, standbysConnected }: Conditions): boolean {
  return synchronousStandbys.trim() !== "" && standbysConnected === 0;
}

export interface ClockDifference {
  text: string;
  /** Whether a server must not run with it. */
  isTooFar: boolean;
}

/** Null: the clock of this machine agrees with the database's. */
export function clockDifference({ clockAheadMs }: Conditions): ClockDifference | null {
  const milliseconds = Math.abs(clockAheadMs);
  if (milliseconds <= CLOCK_WARN_MS) return null;
  const seconds = Math.round(milliseconds / 1000);
  const side = clockAheadMs > 0 ? "ahead of" : "behind";
  return {
    text: `the clock of this machine is ${seconds} s ${side} that of the database: set both by NTP`,
    isTooFar: milliseconds > CLOCK_LIMIT_MS,
  };
}
