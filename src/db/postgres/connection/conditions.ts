// Reads the settings of the database and of the connection on which the durability of acknowledged orders depends.
// weaknesses.ts judges them.

import type { Address } from "./address.ts";
import { connect } from "./connection.ts";

export interface Conditions {
  /** PostgreSQL's version, such as "17.2". */
  version: string;
  /** How far this machine's clock is certainly ahead of the database's, in milliseconds; negative if it is behind. */
  clockAheadMs: number;
  /** The setting of the server or the role. This program's own sessions have `on` or a stronger setting. */
  synchronousCommit: string;
  /** Empty if there is no synchronous standby. */
  synchronousStandbys: string;
  /** Number of connected standbys that are synchronous or whose state is hidden from this user. */
  standbysConnected: number;
  fsync: boolean;
  isEncrypted: boolean;
}

const QUERY = `SELECT current_setting('server_version') AS version,
  (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS clock,
  (SELECT reset_val FROM pg_settings WHERE name = 'synchronous_commit') AS commit,
  current_setting('synchronous_standby_names') AS standbys,
  (SELECT count(*)::int FROM pg_stat_replication
    WHERE coalesce(sync_state, 'sync') IN ('sync', 'quorum')) AS connected,
  current_setting('fsync') AS fsync,
  coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false) AS encrypted`;

interface Row {
  version: string;
  clock: number;
  commit: string;
  standbys: string;
  connected: number;
  fsync: string;
  encrypted: boolean;
}

const TIMEOUT_MS = 5000;

/** Reads the conditions from the primary. `now`: this machine's clock, in milliseconds since 1970. */
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
    const { version, clock, commit, standbys, connected, fsync, encrypted } =
      rows![0] as unknown as Row;
    return {
      version,
      clockAheadMs: outside(clock, asked, answered),
      synchronousCommit: commit,
      synchronousStandbys: standbys,
      standbysConnected: connected,
      fsync: fsync === "on",
      isEncrypted: encrypted,
    };
  } finally {
    connection.close();
  }
}

/**
 * Returns the difference of the clocks, with the sign of `clockAheadMs`. The database read its clock between the two
 * times, so only the distance outside that range counts.
 */
function outside(clock: number, asked: number, answered: number): number {
  if (clock < asked) return Math.round(asked - clock);
  if (clock > answered) return Math.round(answered - clock);
  return 0;
}
