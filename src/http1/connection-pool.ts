// The connections of one listener, with a limit for all and a limit for each client. If there is no room for a new
// connection, one that waits for its client is closed; if none waits, the new one is closed. To accept and close a
// connection costs 11 µs. A connection that is not accepted stays in the kernel's queue and wakes the event loop again
// and again.

import type { Connection } from "./connection.ts";

export interface ConnectionLimits {
  /** Limits for simultaneous connections, of all clients and of one client. */
  all: number;
  perClient: number;
  /** Returns the client of an address; null if its connections count only towards `all`, as those of a proxy do. */
  clientOf(address: string): string | null;
  /** Called when a connection was closed for lack of room: a new one, or one that waited. */
  onFull?(client: string | null): void;
}

export interface ConnectionFigures {
  open: number;
  limit: number;
  /** New connections that were closed at once. */
  refused: number;
  /** Waiting connections that were closed for a new one. */
  displaced: number;
}

const UNLIMITED: ConnectionLimits = { all: Infinity, perClient: Infinity, clientOf: () => null };

/** Limit for connections examined to find one to close, so that the cost of a new connection is bounded. */
const EXAMINED_LIMIT = 64;

export class ConnectionPool {
  readonly #all = new Set<Connection>();
  readonly #byClient = new Map<string, Set<Connection>>();
  #refused = 0;
  #displaced = 0;

  constructor(readonly limits: ConnectionLimits = UNLIMITED) {}

  get size(): number {
    return this.#all.size;
  }

  figures(): ConnectionFigures {
    const { size: open } = this;
    return { open, limit: this.limits.all, refused: this.#refused, displaced: this.#displaced };
  }

  [Symbol.iterator](): Iterator<Connection> {
    return this.#all.values();
  }

  /** Returns the client of a new connection; undefined if the connection is refused. */
  admit(address: string): string | null | undefined {
    const client = this.limits.clientOf(address);
    const own = client === null ? undefined : this.#byClient.get(client);
    const hasRoom =
      (own === undefined || own.size < this.limits.perClient || this.#displaceIn(own)) &&
      (this.size < this.limits.all || this.#displaceIn(this.#all));
    if (hasRoom) return client;
    this.#refused++;
    this.limits.onFull?.(client);
    return undefined;
  }

  add(connection: Connection): void {
    this.#all.add(connection);
    const { client } = connection;
    if (client === null) return;
    const own = this.#byClient.get(client);
    if (own) own.add(connection);
    else this.#byClient.set(client, new Set([connection]));
  }

  delete(connection: Connection): void {
    this.#all.delete(connection);
    const { client } = connection;
    const own = client === null ? undefined : this.#byClient.get(client);
    if (!own) return;
    own.delete(connection);
    if (own.size === 0) this.#byClient.delete(client!);
  }

  /**
   * Closes a waiting connection: of the first EXAMINED_LIMIT connections, the oldest waiting one of the client with
   * the most connections. Returns false if none waits.
   */
  #displaceIn(connections: Set<Connection>): boolean {
    let chosen: Connection | null = null;
    let most = -1;
    let looked = 0;
    for (const connection of connections) {
      if (looked++ === EXAMINED_LIMIT) break;
      if (!connection.isSpare) {
        // Moved to the end, so that others are examined the next time.
        connections.delete(connection);
        connections.add(connection);
        continue;
      }
      const count = this.#byClient.get(connection.client ?? "")?.size ?? 0;
      if (count <= most) continue;
      chosen = connection;
      most = count;
    }
    if (!chosen) return false;
    this.#displaced++;
    this.limits.onFull?.(chosen.client);
    this.delete(chosen);
    chosen.abandon();
    return true;
  }
}
