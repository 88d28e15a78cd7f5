// Secrets on standard input: on the command line other users of the machine would see them.

/** Longer than any secret with its white space. */
const STDIN_LIMIT_BYTES = 64 * 1024;

/** All of it: a file that a command takes as `-`. */
export function readStdinText(): Promise<string> {
  return Bun.stdin.text();
}

/** Null when it is longer than any secret; reading stops there. */
export async function readStdin(): Promise<string | null> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of Bun.stdin.stream()) {
    length += chunk.byteLength;
    if (length > STDIN_LIMIT_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
