// What the callers were told, kept outside of the database, and how long nobody was told anything.

/** `sent`: no answer yet. `refused`: nothing was written, they were told. `unknown`: they were told that nobody knows. */
export type Fate = "sent" | "acknowledged" | "refused" | "unknown";

export interface Entry {
  fate: Fate;
  /** Of an acknowledged one. */
  orderId: number | null;
}

export class Journal {
  readonly entries = new Map<string, Entry>();
  /** What no server may ever answer. */
  readonly faults: string[] = [];
  #lastAcknowledged = Date.now();
  #longestGap = 0;
  #acknowledged = 0;

  get acknowledged(): number {
    return this.#acknowledged;
  }

  sent(name: string): void {
    this.entries.set(name, { fate: "sent", orderId: null });
  }

  /** `at`: when the server had it, by its clock. */
  answered(name: string, fate: Fate, at: number, orderId: number | null = null): void {
    this.entries.set(name, { fate, orderId });
    if (fate !== "acknowledged") return;
    this.#longestGap = Math.max(this.#longestGap, at - this.#lastAcknowledged);
    this.#lastAcknowledged = Math.max(this.#lastAcknowledged, at);
    this.#acknowledged += 1;
  }

  /** From now on the longest time without an acknowledgement is measured anew. */
  watchGap(): void {
    this.#longestGap = 0;
  }

  longestGapMs(): number {
    return Math.max(this.#longestGap, Date.now() - this.#lastAcknowledged);
  }

  /** Resolves once `count` more were acknowledged; throws when that takes longer. */
  async moreAcknowledged(count: number, limitMs: number): Promise<void> {
    const goal = this.#acknowledged + count;
    const deadline = performance.now() + limitMs;
    while (this.#acknowledged < goal) {
      if (performance.now() > deadline) {
        const faults = this.faults.slice(0, 5).join("; ");
        throw new Error(`fewer than ${count} acknowledged within ${limitMs} ms: ${faults}`);
      }
      await Bun.sleep(5);
    }
  }

  count(fate: Fate): number {
    return [...this.entries.values()].filter((entry) => entry.fate === fate).length;
  }
}
