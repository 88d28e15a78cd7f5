// Counts, hashes, compresses and decompresses streams of bytes.

import { createHash } from "node:crypto";

export interface Digest {
  bytes: number;
  sha256: string;
}

export interface Meter {
  /** Counts and hashes a chunk. */
  add: (chunk: Uint8Array) => void;
  digest(): Digest;
}

/** Creates a meter. `onBytes` is called with the number of bytes so far. */
export function createMeter(onBytes: (bytes: number) => void = () => {}): Meter {
  const hash = createHash("sha256");
  let bytes = 0;
  return {
    add(chunk) {
      hash.update(chunk);
      onBytes((bytes += chunk.length));
    },
    digest: () => ({ bytes, sha256: hash.digest("hex") }),
  };
}

/** Returns a stream that passes its chunks on unchanged and shows them to `meter`. */
export function metered(meter: Meter): TransformStream<Uint8Array, Uint8Array> {
  return new TransformStream({
    transform(chunk, controller) {
      meter.add(chunk);
      controller.enqueue(chunk);
    },
  });
}

type Bytes = ReadableStream<Uint8Array>;
/** Bun supports zstd, but the DOM's type of formats does not list it. */
const ZSTD = "zstd" as string as CompressionFormat;
/** A transform of Uint8Arrays. The DOM's types of these streams accept any BufferSource. */
type ByteTransform = TransformStream<Uint8Array, Uint8Array>;

export function compress(content: Bytes): Bytes {
  return content.pipeThrough(new CompressionStream(ZSTD) as ByteTransform);
}

/** Decompresses a stream. Content that ends early causes no error, only a shorter result. */
export function decompress(content: Bytes): Bytes {
  return content.pipeThrough(new DecompressionStream(ZSTD) as ByteTransform);
}
