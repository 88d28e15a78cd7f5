// The lease of this server on its database (operations/batch/server-leases.ts). Renewals bypass the writer's queue, so
// that a full queue does not end the lease. No clock decides whether another server is alive: each server watches the
// others' renewals.

import { type Store, TransientError } from "../db/port/port.ts";
import type { Server } from "../db/tables/database.ts";
import { LEASE_MS, listServers } from "../db/delivery/server-leases.ts";
import { execute } from "../operations/batch/execute.ts";
import type { SeenServer } from "../operations/batch/server-leases.ts";

const RENEW_MS = 5000;
/** Time within which a running server renews its lease. A killed server does not. */
const SILENT_MS = 7000;
const CHECK_MS = 500;

export interface ServerLease {
  id: string;
  /** Number of servers with a lease as of the last renewal, this one included. */
  servers(): number;
  /** Whether this server does the work that one server does for all. */
  isLeader(): boolean;
  /** Gives the lease back. */
  end(): Promise<void>;
}

export interface LeaseOptions {
  store: Store;
  /** A fresh id. */
  id: string;
  name: string;
  /** The clock that all servers of the database share; measured again before each renewal. */
  clock: { now(): number; measure(): Promise<void> };
  /** Whether a server still has connections to the database. */
  isConnected: (id: string) => Promise<boolean>;
  /** Called with the reason when the lease could not be renewed, and with null when it is renewed again. */
  onRenewal: (failure: string | null) => void;
  renewMs?: number;
  silentMs?: number;
}

/** Thrown when another server has this one's name. */
export class NameTakenError extends Error {
  override name = "NameTakenError";
}

/** Takes a lease. Throws NameTakenError while another server runs under the same name. */
export async function startLease(options: LeaseOptions): Promise<ServerLease> {
  const { store, id, name, clock, onRenewal, renewMs = RENEW_MS } = options;
  const renew = (ended: readonly SeenServer[]) =>
    execute(store, "renewLease", { id, name, ended: [...ended] }, clock.now());
  const others = async () => (await store.read(listServers)).filter((each) => each.id !== id);
  const endRow = () => execute(store, "endLease", { id }, clock.now());

  let lease = await renew(await awaitEnds(options));
  // A namesake may have renewed its lease just now, or started at the same time.
  if ((await others()).some((other) => other.name === name)) {
    await endRow();
    throw nameTaken(name);
  }
  let renewedAt = performance.now();
  let hasFailed = false;
  let running: Promise<void> | null = null;
  const silentServers = watchRenewals(2 * renewMs);

  const attempt = async (): Promise<void> => {
    try {
      await clock.measure();
      const asked = performance.now();
      const silent = silentServers(await others(), asked, performance.now());
      lease = await renew(silent);
      renewedAt = asked;
      if (hasFailed) onRenewal(null);
      hasFailed = false;
    } catch (error) {
      if (!hasFailed) onRenewal(String(error));
      hasFailed = true;
    }
  };
  const timer = setInterval(() => {
    running ??= attempt().finally(() => (running = null));
  }, renewMs);
  return {
    id,
    servers: () => lease.servers,
    isLeader: () => lease.isLeader && performance.now() - renewedAt < LEASE_MS,
    async end() {
      clearInterval(timer);
      await running;
      try {
        await endRow();
      } catch (error) {
        // A lease that is not given back expires.
        if (!(error instanceof TransientError)) throw error;
      }
    },
  };
}

/**
 * Returns a function to call with each list of servers read from the database. It takes the servers, and this machine's
 * uptime before and after the read. It returns the servers without a renewal for LEASE_MS. After a gap of more than
 * `gapMs` it starts over: no server could renew while the database was unreachable, and this process saw no renewals
 * while it was suspended.
 */
export function watchRenewals(
  gapMs: number,
): (found: readonly Server[], asked: number, answered: number) => Server[] {
  let seen = new Map<string, { leaseUntil: number; since: number }>();
  let lookedAt = -Infinity;
  return (found, asked, answered) => {
    const isGap = answered - lookedAt > gapMs;
    lookedAt = answered;
    const before = isGap ? new Map<string, never>() : seen;
    seen = new Map(
      found.map(({ id, leaseUntil }) => {
        const same = before.get(id)?.leaseUntil === leaseUntil ? before.get(id) : undefined;
        return [id, same ?? { leaseUntil, since: answered }];
      }),
    );
    return found.filter(({ id }) => asked - seen.get(id)!.since >= LEASE_MS);
  };
}

/**
 * Waits until the servers of this name have ended, and returns them. A server without connections to the database has
 * ended. A server that still has connections, for example after the loss of its machine, has ended if it does not renew
 * its lease within `silentMs`. Throws NameTakenError when a server renews its lease.
 */
async function awaitEnds({
  store,
  name,
  isConnected,
  silentMs = SILENT_MS,
}: LeaseOptions): Promise<SeenServer[]> {
  const deadline = performance.now() + silentMs;
  const namesakes = async (): Promise<Server[]> =>
    (await store.read(listServers)).filter((server) => server.name === name);
  const first = await namesakes();
  for (;;) {
    // Checked before the read, so that one more read follows the deadline: the previous one may have missed a renewal.
    const isOver = performance.now() >= deadline;
    const running = [];
    for (const server of await namesakes()) {
      const before = first.find(({ id }) => id === server.id);
      if (before?.leaseUntil !== server.leaseUntil) throw nameTaken(name);
      if (await isConnected(server.id)) running.push(server);
    }
    if (running.length === 0 || isOver) return first;
    await Bun.sleep(CHECK_MS);
  }
}

function nameTaken(name: string): NameTakenError {
  return new NameTakenError(
    `a server named ${name} already runs on this database: give each server its own name with --server`,
  );
}
