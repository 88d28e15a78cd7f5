// Lists what weakens the durability of acknowledged orders, as sentences for `serve` and `doctor`. Also judges the
// difference of the clocks.

import { type Address, isSocket } from "../connection/address.ts";
import type { Conditions } from "../connection/conditions.ts";

/** Limit for the difference of the clocks. Servers use the database's clock, but their logs use the machine's. */
export const CLOCK_WARN_MS = 2000;

const WEAK_COMMIT = /^(off|local|remote_write)$/;
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1)$/i;

export type Condition = "fsync" | "commit" | "standby" | "encryption";

export function weaknesses(address: Address, conditions: Conditions): string[] {
  return [...weaknessesOf(address, conditions).values()];
}

/** Returns the sentences of `weaknesses` by their condition. */
export function weaknessesOf(address: Address, conditions: Conditions): Map<Condition, string> {
  const { synchronousCommit, synchronousStandbys, fsync, isEncrypted } = conditions;
  const found = new Map<Condition, string>();
  if (!fsync) found.set("fsync", "fsync is off: a power failure can damage the database");
  if (WEAK_COMMIT.test(synchronousCommit)) {
    found.set(
      "commit",
      `synchronous_commit is ${synchronousCommit}: reseller turns it on for its own connections, but other programs may lose commits`,
    );
  }
  if (synchronousStandbys.trim() === "") {
    found.set(
      "standby",
      "synchronous_standby_names is empty: if the database machine is lost, acknowledged orders may be lost with it",
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

/** Returns whether every commit waits for a standby, because a synchronous one is required and none is connected. */
export function isWithoutStandby({ synchronousStandbys, standbysConnected }: Conditions): boolean {
  return synchronousStandbys.trim() !== "" && standbysConnected === 0;
}

/** Returns a sentence about the difference of the clocks, or null if they agree. */
export function clockDifference({ clockAheadMs }: Conditions): string | null {
  const milliseconds = Math.abs(clockAheadMs);
  if (milliseconds <= CLOCK_WARN_MS) return null;
  const seconds = Math.round(milliseconds / 1000);
  const side = clockAheadMs > 0 ? "ahead of" : "behind";
  return `this machine's clock is ${seconds} s ${side} the database's, which the service uses: synchronize both with NTP`;
}
