// Servers that share a database: each renews a lease. The one that has held its lease longest is the leader, which does
// what one server does for all.

import type { Tx } from "../../db/port/port.ts";
import { type Server, servers } from "../../db/tables/database.ts";
import { LEASE_MS, listServers } from "../../db/delivery/server-leases.ts";
import type { Context } from "./context.ts";

/** A server's row as it was seen. */
export type SeenServer = Pick<Server, "id" | "leaseUntil">;

export interface RenewLease {
  /** Identifies one process: a new start is a new server. */
  id: string;
  name: string;
  /** Servers that are known to have ended without ending their lease. One that renewed it since it was seen stays. */
  ended: SeenServer[];
}

export interface Lease {
  /** Number of servers with a lease, including this one. */
  servers: number;
  /** Whether this one has had it longest. */
  isLeader: boolean;
}

/** Takes the lease, or renews it. A server that was taken for dead begins anew. */
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
  // A new value each time, whatever the clock did: others recognise a renewal by it.
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

function isLonger(one: Server, other: Server): boolean {
  if (one.startedAt !== other.startedAt) return one.startedAt < other.startedAt;
  return one.id < other.id;
}
