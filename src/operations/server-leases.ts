// Servers that share a database: each renews a lease. Who has the lease longest does what one server is to do for all.

import type { Tx } from "../db/port.ts";
import { listLapsedServers, listLiveServers, type Server } from "../db/server-leases.ts";
import { servers } from "../db/tables.ts";
import type { Context } from "./context.ts";

/** From each renewal. Another server may treat what this one was doing as interrupted once its lease has ended. */
export const LEASE_MS = 30_000;
/** A row without a lease is of interest to people alone, and for so long. */
const LAPSED_MS = 24 * 3_600_000;

export interface RenewLease {
  /** Of one process: a new start is a new server. */
  id: string;
  name: string;
  /** Servers that are known to have ended without saying so. */
  replaces: string[];
}

export interface Lease {
  /** Servers with a lease, this one included. */
  servers: number;
  /** Whether this one has it longest. */
  isLeader: boolean;
}

/** Takes the lease, or renews it. One that had ended begins anew. */
export function renewLease(tx: Tx, command: RenewLease, { now }: Context): Lease {
  const { id, name, replaces } = command;
  const lapsed = listLapsedServers(tx, now - LAPSED_MS);
  const others = listLiveServers(tx, now).filter(
    (each) => each.id !== id && !replaces.includes(each.id),
  );
  const before = tx.row(servers.byKey, id);
  const ended = new Set([...replaces, ...lapsed.map((each) => each.id)]);
  // Its own lease may have ended long ago, when the process was suspended.
  ended.delete(id);
  tx.each([...ended], (each) => {
    if (tx.row(servers.byKey, each)) tx.delete(servers, { id: each });
  });
  const leaseUntil = now + LEASE_MS;
  const startedAt = before && before.leaseUntil > now ? before.startedAt : now;
  const own = before
    ? tx.update(servers, before, { startedAt, leaseUntil })
    : tx.insert(servers, { id, name, startedAt, leaseUntil });
  return { servers: others.length + 1, isLeader: others.every((each) => isLonger(own, each)) };
}

/** At the end of a process, so that no server has to wait for its lease to end. */
export function endLease(tx: Tx, { id }: { id: string }): null {
  if (tx.row(servers.byKey, id)) tx.delete(servers, { id });
  return null;
}

function isLonger(one: Server, other: Server): boolean {
  if (one.startedAt !== other.startedAt) return one.startedAt < other.startedAt;
  return one.id < other.id;
}
