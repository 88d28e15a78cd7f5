// Refuses batches while commits wait for a synchronous standby that is unavailable. Nothing of a refused batch was
// sent, so the refusal is correct whatever happens to the waiting commits. PostgreSQL keeps a waiting session even
// after this program has given up its connection. Once no session waits any more, commits are acknowledged again.
// docs/decisions/0027-lost-commits-by-marker-row.md

import type { Address } from "../connection/address.ts";
import { connect, type Connection, type ConnectionOptions } from "../connection/connection.ts";

const RECHECK_MS = 500;
/** SQL for waiting sessions of this store, by name. Commits of other servers may wait briefly at any time. */
const WAITING_SESSIONS = `SELECT 1 FROM pg_stat_activity
  WHERE application_name = $1 AND wait_event = 'SyncRep' LIMIT 1`;

export class CommitGate {
  #isClosed = false;
  #isStopped = false;
  #connection: Connection | null = null;
  #rechecking: Promise<void> | null = null;

  constructor(
    readonly address: Address,
    readonly options: ConnectionOptions,
    /** Called when the gate closes and when it opens. */
    readonly onChange: (isClosed: boolean) => void,
  ) {}

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Closes the gate because a COMMIT waits for a standby. */
  close(): void {
    if (this.#isClosed || this.#isStopped) return;
    this.#isClosed = true;
    this.onChange(true);
    void this.#recheckUntilOpen();
  }

  /** Opens the gate if no session waits any more. */
  recheck(): Promise<void> {
    return (this.#rechecking ??= this.#openIfNoneWaits().finally(() => (this.#rechecking = null)));
  }

  stop(): void {
    this.#isStopped = true;
    this.#connection?.close();
  }

  async #recheckUntilOpen(): Promise<void> {
    while (this.#isClosed && !this.#isStopped) {
      await Bun.sleep(RECHECK_MS);
      await this.recheck();
    }
  }

  async #openIfNoneWaits(): Promise<void> {
    const { options, address } = this;
    if (!this.#isClosed || this.#isStopped) return;
    try {
      this.#connection ??= await connect(address, options);
      const asked = [{ text: WAITING_SESSIONS, values: [options.name] }];
      const [rows] = await this.#connection.turn(asked, options.connectMs);
      if (rows!.length > 0 || this.#isStopped) return;
      this.#isClosed = false;
      this.onChange(false);
    } catch {
      // Without a primary nothing can be committed. The next try connects anew and may find another primary.
    }
    this.#connection?.close();
    this.#connection = null;
  }
}
