// The settings of the database, and of the connection to it, on which the durability of acknowledged orders depends.
// `serve` and `doctor` name what weakens it.

import type { Address } from "./address.ts";
import { connect } from "./connection.ts";

export interface Conditions {
  /** Of PostgreSQL, such as "17.2". */
  version: string;
  /** By how much the clock of this machine is ahead of the database's, at least; below 0: behind. Milliseconds. */
  clockAheadMs: number;
  /** As the server or the role has it: sessions of this program have at least `on`. */
  synchronousCommit: string;
  /** Empty: there is no synchronous standby. */
  synchronousStandbys: string;
  fsync: boolean;
  isEncrypted: boolean;
}

const QUERY = `SELECT current_setting('server_version') AS version,
  (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS clock,
  (SELECT reset_val FROM pg_settings WHERE name = 'synchronous_commit') AS commit,
  current_setting('synchronous_standby_names') AS standbys,
  current_setting('fsync') AS fsync,
  coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false) AS encrypted`;

interface Row {
  version: string;
  clock: number;
  commit: string;
  standbys: string;
  fsync: string;
  encrypted: boolean;
}

/** A clock that differs more from the database's makes times of several servers hard to compare. */
export const CLOCK_WARN_MS = 2000;
/** A third of a server's lease: beyond it other servers would consider this one dead too early, or too late. */
export const CLOCK_LIMIT_MS = 10_000;

const TIMEOUT_MS = 5000;
const WEAK_COMMIT = /^(off|local|remote_write)$/;
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1)$/i;

/** Asks the primary. `now`: this machine's clock, in milliseconds since 1970. */
export async function readConditions(address: Address, now: () => number): Promise<Conditions> {
  const connection = await connect(address, {
    turnMs: TIMEOUT_MS,
    connectMs: TIMEOUT_MS,
    name: "reseller conditions",
    settings: {},
  });
  try {
    const asked = now();
    const [rows] = await connection.turn([{ text: QUERY, values: [] }]);
    const answered = now();
    const { version, clock, commit, standbys, fsync, encrypted } = rows![0] as unknown as Row;
    return {
      version,
      clockAheadMs: outside(clock, asked, answered),
      synchronousCommit: commit,
      synchronousStandbys: standbys,
      fsync: fsync === "on",
      isEncrypted: encrypted,
    };
  } finally {
    connection.close();
  }
}

/** The database read its clock between the two: only what lies outside of that is a difference. */
function outside(clock: number, asked: number, answered: number): number {
  if (clock < asked) return Math.round(asked - clock);
  if (clock > answered) return Math.round(answered - clock);
  return 0;
}

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
  const isElsewhere = address.hosts.some(({ hostname }) => !LOOPBACK.test(hostname));
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
