// Standard input: secrets, which other users of the machine would see on the command line, and lists.

import { errorCode } from "../domain/refusals.ts";
import { CommandFailure } from "./command.ts";

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

/** All of it, as UTF-8. Throws CommandFailure for what is none. */
export async function readAll(): Promise<string> {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await Bun.stdin.bytes());
  } catch (error) {
    if (!errorCode(error).startsWith("ERR_")) throw error;
    throw new CommandFailure("stdin is not UTF-8 text: save it as UTF-8 and import again");
  }
}
