// Whether commits are known to wait for a synchronous standby that is away: then a batch is refused before it begins. Nothing
// of it was sent, so that the refusal is true whatever becomes of those that wait. Sessions that wait go on waiting
// on PostgreSQL after their connection was given up; once none is left, commits are acknowledged again.
// docs/decisions/0074-refused-while-commits-wait.md.

import type { Address } from "./address.ts";
import { connect, type Connection, type ConnectionOptions } from "./connection.ts";

const LOOK_MS = 500;
/** Of the sessions of this store, by their name: other servers' commits may wait for a millisecond at any time. */
const WAITING = `SELECT 1 FROM pg_stat_activity
  WHERE application_name = $1 AND wait_event = 'SyncRep' LIMIT 1`;

export class CommitGate {
  #isClosed = false;
  #isStopped = false;
  #connection: Connection | null = null;
  #looking: Promise<void> | null = null;

  constructor(
    readonly address: Address,
    readonly options: ConnectionOptions,
    /** Called when it closes and when it opens. */
    readonly onChange: (isClosed: boolean) => void,
  ) {}

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** A COMMIT waits for a standby. */
  close(): void {
    if (this.#isClosed || this.#isStopped) return;
    this.#isClosed = true;
    this.onChange(true);
    void this.#lookAgain();
  }

  /** Opens it if none waits any more. */
  look(): Promise<void> {
    return (this.#looking ??= this.#ask().finally(() => (this.#looking = null)));
  }

  stop(): void {
    this.#isStopped = true;
    this.#connection?.close();
  }

  async #lookAgain(): Promise<void> {
    while (this.#isClosed && !this.#isStopped) {
      await Bun.sleep(LOOK_MS);
      await this.look();
    }
  }

  async #ask(): Promise<void> {
    const { options, address } = this;
    if (!this.#isClosed || this.#isStopped) return;
    try {
      this.#connection ??= await connect(address, options);
      const asked = [{ text: WAITING, values: [options.name] }];
      const [rows] = await this.#connection.turn(asked, options.connectMs);
      if (rows!.length > 0 || this.#isStopped) return;
      this.#isClosed = false;
      this.onChange(false);
    } catch {
      // No primary: nothing can be committed either. Another connection may find the next one.
    }
    this.#connection?.close();
    this.#connection = null;
  }
}
