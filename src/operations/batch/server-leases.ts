// Leases of the servers that share a database. Each server renews its own. The server that has held its lease longest
// is the leader: it runs the jobs that one server runs for all.

import type { Tx } from "../../db/port/port.ts";
import { type Server, servers } from "../../db/tables/database.ts";
import { LEASE_MS, listServers } from "../../db/delivery/server-leases.ts";
import type { Context } from "./context.ts";

/** A server's row as it was read earlier. */
export type SeenServer = Pick<Server, "id" | "leaseUntil">;

export interface RenewLease {
  /** Identifies one process: a new start is a new server. */
  id: string;
  name: string;
  /** Servers that ended without ending their lease. Their rows are deleted unless they renewed the lease since. */
  ended: SeenServer[];
}

export interface Lease {
  /** Number of servers with a lease, including this one. */
  servers: number;
  /** Whether this server has held its lease longest. */
  isLeader: boolean;
}

/**
 * Takes or renews the lease. A server whose row was deleted, because other servers regarded it as dead, takes a new
 * one.
 */
export function renewLease(tx: Tx, { id, name, ended }: RenewLease, { now }: Context): Lease {
  const all = listServers(tx);
  const hasEnded = (each: Server) =>
    ended.some((seen) => seen.id === each.id && seen.leaseUntil === each.leaseUntil);
  const others = all.filter((each) => each.id !== id && !hasEnded(each));
  tx.each(
    all.filter((each) => each.id !== id && hasEnded(each)),
    (each) => tx.delete(servers, { id: each.id }),
  );
  const before = tx.row(servers.byKey, id);
  // Always a new value, even if the clock stood still: other servers recognise a renewal by it.
  const isSame = before?.leaseUntil === now + LEASE_MS;
  const leaseUntil = now + LEASE_MS + (isSame ? 1 : 0);
  const own = before
    ? tx.update(servers, before, { leaseUntil })
    : tx.insert(servers, { id, name, startedAt: now, leaseUntil });
  return { servers: others.length + 1, isLeader: others.every((each) => isLonger(own, each)) };
}

/** Ends the lease at the end of a process, so that no server has to wait until it runs out. */
export function endLease(tx: Tx, { id }: { id: string }): null {
  if (tx.row(servers.byKey, id)) tx.delete(servers, { id });
  return null;
}

/** Returns whether `one` has held its lease longer. */
function isLonger(one: Server, other: Server): boolean {
  if (one.startedAt !== other.startedAt) return one.startedAt < other.startedAt;
  return one.id < other.id;
}
