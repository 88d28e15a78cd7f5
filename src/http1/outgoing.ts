// The bytes that leave a connection, as fast as its peer takes them.

/** Responses that wait to be written together. */
const FLUSH_BYTES = 64 * 1024;

/** What bytes are written to: how many were taken, or -1 when it is closed. */
interface Sink {
  write(data: string | Uint8Array): number;
}

export class Outgoing {
  /** Not written yet, and how many bytes it is. */
  #text = "";
  #textBytes = 0;
  /** Written, and not taken. */
  #unsent: Uint8Array | null = null;
  #onDrained: (() => void) | null = null;
  #isClosed = false;

  constructor(readonly sink: Sink) {}

  /** The peer has to read before more is written. */
  get isBlocked(): boolean {
    return this.#unsent !== null;
  }

  /** Responses to requests that came together leave together, as far as they are short. */
  add(text: string, bytes: number): void {
    this.#text += text;
    this.#textBytes += bytes;
    if (this.#textBytes > FLUSH_BYTES) this.flush();
  }

  flush(): void {
    if (this.#text === "" || this.#isClosed || this.#unsent) return;
    const text = this.#text;
    const bytes = this.#textBytes;
    this.#text = "";
    this.#textBytes = 0;
    const written = this.sink.write(text);
    if (written < bytes) this.#unsent = Buffer.from(text).subarray(Math.max(written, 0));
  }

  /** Writes bytes behind all text. Resolves once they are taken, or never will be. */
  async write(bytes: Uint8Array): Promise<void> {
    this.flush();
    if (this.#isClosed) return;
    if (this.#unsent) this.#unsent = Buffer.concat([this.#unsent, bytes]);
    else this.#send(bytes);
    if (this.#unsent) await new Promise<void>((resolve) => (this.#onDrained = resolve));
  }

  /** The sink takes bytes again. */
  drain(): void {
    if (!this.#unsent) return;
    const unsent = this.#unsent;
    this.#unsent = null;
    this.#send(unsent);
    if (!this.#unsent) this.#settle();
  }

  close(): void {
    this.#isClosed = true;
    this.#unsent = null;
    this.#settle();
  }

  #send(bytes: Uint8Array): void {
    const written = Math.max(this.sink.write(bytes), 0);
    if (written < bytes.byteLength) this.#unsent = bytes.subarray(written);
  }

  #settle(): void {
    this.#onDrained?.();
    this.#onDrained = null;
  }
}
