// The lease of this server among those of its database (operations/server-leases.ts), renewed past the writer's queue, so that
// a full queue does not end it.

import { type Store, TransientError } from "../db/port.ts";
import { listLiveServers, type Server } from "../db/server-leases.ts";
import { execute } from "../operations/execute.ts";
import { LEASE_MS } from "../operations/server-leases.ts";

const RENEW_MS = 5000;
/** A server that runs renews its lease within this time; one that has been killed does not. */
const SILENT_MS = 7000;
const LOOK_MS = 500;

export interface ServerLease {
  /** Of this process. */
  id: string;
  /** Servers with a lease as of the last renewal, this one included. */
  servers(): number;
  /** Whether this server does what one server does for all. */
  isLeader(): boolean;
  /** Gives the lease back. */
  end(): Promise<void>;
}

export interface LeaseOptions {
  store: Store;
  /** A fresh one. */
  id: string;
  name: string;
  /** Whether a server still has connections to the database. */
  isConnected: (id: string) => Promise<boolean>;
  /** Called with the reason when the lease could not be renewed, and with null when it was again. */
  onRenewal: (failure: string | null) => void;
  renewMs?: number;
  silentMs?: number;
}

/** Another server has this one's name. */
export class NameTakenError extends Error {
  override name = "NameTakenError";
}

/** Takes a lease. Throws NameTakenError while another server runs under the same name. */
export async function startLease(options: LeaseOptions): Promise<ServerLease> {
  const { store, id, name, onRenewal, renewMs = RENEW_MS } = options;
  const renew = (replaces: string[]) =>
    execute(store, "renewLease", { id, name, replaces }, Date.now());
  let lease = await renew(await awaitEnds(options));
  let renewedAt = performance.now();
  let hasFailed = false;
  let running: Promise<void> | null = null;

  const attempt = async (): Promise<void> => {
    try {
      const asked = performance.now();
      lease = await renew([]);
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
        await execute(store, "endLease", { id }, Date.now());
      } catch (error) {
        // It ends by itself.
        if (!(error instanceof TransientError)) throw error;
      }
    },
  };
}

/**
 * The ids of servers of this name that were killed. One without connections to the database has ended. One that still has
 * some, as after the loss of its machine, has ended when it does not renew its lease within `silentMs`.
 */
async function awaitEnds({
  store,
  name,
  isConnected,
  silentMs = SILENT_MS,
}: LeaseOptions): Promise<string[]> {
  const deadline = performance.now() + silentMs;
  const namesakes = async (): Promise<Server[]> => {
    const now = Date.now();
    const live = await store.read((reader) => listLiveServers(reader, now));
    return live.filter((server) => server.name === name);
  };
  const first = await namesakes();
  for (;;) {
    // Before the look: one that renewed while the look before it took long is seen by another.
    const isOver = performance.now() >= deadline;
    const running = [];
    for (const server of await namesakes()) {
      const before = first.find(({ id }) => id === server.id);
      if (before?.leaseUntil !== server.leaseUntil) throw nameTaken(name);
      if (await isConnected(server.id)) running.push(server);
    }
    if (running.length === 0 || isOver) return first.map(({ id }) => id);
    await Bun.sleep(LOOK_MS);
  }
}

function nameTaken(name: string): NameTakenError {
  return new NameTakenError(
    `a server named ${name} runs on this database already: give each a name of its own with --server`,
  );
}
