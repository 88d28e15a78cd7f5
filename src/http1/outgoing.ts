// The output buffer of a connection, written as fast as the socket accepts.

/** Pipelined responses are gathered up to this size and written with one system call. */
const FLUSH_BYTES = 64 * 1024;

/** A socket as this file uses it. `write` returns how many bytes were accepted, or -1 when the socket is closed. */
interface Sink {
  write(data: string | Uint8Array): number;
}

export class Outgoing {
  /** Text that is not written yet, and its length in bytes. */
  #text = "";
  #textBytes = 0;
  /** The part of a write that the socket did not accept. */
  #unsent: Uint8Array | null = null;
  #onDrained: (() => void) | null = null;
  #isClosed = false;

  constructor(readonly sink: Sink) {}

  /** Whether the socket's send buffer is full. */
  get isBlocked(): boolean {
    return this.#unsent !== null;
  }

  /** Gathers text; it is written by `flush`, or when FLUSH_BYTES are reached. */
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

  /** Writes bytes after all gathered text. Resolves once the socket accepted them or is closed. */
  async write(bytes: Uint8Array): Promise<void> {
    this.flush();
    if (this.#isClosed) return;
    if (this.#unsent) this.#unsent = Buffer.concat([this.#unsent, bytes]);
    else this.#send(bytes);
    if (this.#unsent) await new Promise<void>((resolve) => (this.#onDrained = resolve));
  }

  /** Called when the sink is writable again. */
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
