// Streams of bytes: counted and hashed on their way, compressed and decompressed.

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

/** `onBytes` is called with the bytes so far. */
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

/** A stream of the same chunks, which `meter` sees. */
export function metered(meter: Meter): TransformStream<Uint8Array, Uint8Array> {
  return new TransformStream({
    transform(chunk, controller) {
      meter.add(chunk);
      controller.enqueue(chunk);
    },
  });
}

type Bytes = ReadableStream<Uint8Array>;
/** The DOM's types, which JSX brings along, do not list what the runtime has besides. */
const ZSTD = "zstd" as string as CompressionFormat;
/** The types of these streams take a BufferSource, which a Uint8Array is. */
type ByteTransform = TransformStream<Uint8Array, Uint8Array>;

export function compress(content: Bytes): Bytes {
  return content.pipeThrough(new CompressionStream(ZSTD) as ByteTransform);
}

/** Content that ends early gives what there is, without an error. */
export function decompress(content: Bytes): Bytes {
  return content.pipeThrough(new DecompressionStream(ZSTD) as ByteTransform);
}
