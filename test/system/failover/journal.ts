// What the callers were told, kept outside of the database, and how long nobody was told anything.

/** `sent`: no answer yet. `refused`: nothing was written, they were told. `unknown`: they were told that nobody knows. */
export type Fate = "sent" | "acknowledged" | "refused" | "unknown";

export interface Entry {
  fate: Fate;
  /** The id of an acknowledged order. */
  orderId: number | null;
}

export class Journal {
  readonly entries = new Map<string, Entry>();
  /** What no server may ever answer. */
  readonly faults: string[] = [];
  #lastAcknowledged = Date.now();
  #longestGap = 0;
  /** When orders were acknowledged, in milliseconds since 1970. */
  readonly #times: number[] = [];
  #acknowledged = 0;
  #refusals = 0;

  /** However often an order was sent. */
  get refusals(): number {
    return this.#refusals;
  }

  get acknowledged(): number {
    return this.#acknowledged;
  }

  sent(name: string): void {
    this.entries.set(name, { fate: "sent", orderId: null });
  }

  /**
   * `at`: when the server had it, by its clock. `waited`: for a provider, since it was committed: that it is acknowledged now
   * does not show that anything is committed now.
   */
  answered(
    name: string,
    fate: Fate,
    at: number,
    orderId: number | null = null,
    waited = false,
  ): void {
    this.entries.set(name, { fate, orderId });
    if (fate === "refused") this.#refusals += 1;
    if (fate !== "acknowledged") return;
    this.#acknowledged += 1;
    if (waited) return;
    this.#longestGap = Math.max(this.#longestGap, at - this.#lastAcknowledged);
    this.#times.push(at);
    this.#lastAcknowledged = Math.max(this.#lastAcknowledged, at);
  }

  /** From now on the longest time without an acknowledgement is measured anew. */
  watchGap(): void {
    this.#longestGap = 0;
  }

  longestGapMs(): number {
    return Math.max(this.#longestGap, Date.now() - this.#lastAcknowledged);
  }

  /** When the first order was acknowledged at `time` or later, both in milliseconds since 1970. */
  firstAfter(time: number): number {
    const first = this.#times.filter((each) => each >= time);
    if (first.length === 0) throw new Error("nothing was acknowledged after that");
    return Math.min(...first);
  }

  /** Resolves once `count` more were acknowledged; throws when that takes longer. */
  async moreAcknowledged(count: number, limitMs: number): Promise<void> {
    const goal = this.#acknowledged + count;
    await this.#until(() => this.#acknowledged >= goal, `${count} acknowledged`, limitMs);
  }

  async moreRefused(count: number, limitMs: number): Promise<void> {
    const goal = this.#refusals + count;
    await this.#until(() => this.#refusals >= goal, `${count} refused`, limitMs);
  }

  async #until(isTrue: () => boolean, what: string, limitMs: number): Promise<void> {
    const deadline = performance.now() + limitMs;
    while (!isTrue()) {
      if (performance.now() > deadline) {
        const faults = this.faults.slice(0, 5).join("; ");
        throw new Error(`fewer than ${what} within ${limitMs} ms: ${faults}`);
      }
      await Bun.sleep(5);
    }
  }

  count(fate: Fate): number {
    return [...this.entries.values()].filter((entry) => entry.fate === fate).length;
  }
}
