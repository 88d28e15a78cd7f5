// Reads standard input: lists, and secrets, which other users of the machine could see on the command line.

import { errorCode } from "../../domain/values/error-table.ts";
import { CommandFailure } from "./command.ts";

/** Size limit: longer than any secret with its white space. */
const STDIN_LIMIT_BYTES = 64 * 1024;

/** Reads all of standard input, for a command that accepts `-` as a file. */
export function readStdinText(): Promise<string> {
  return Bun.stdin.text();
}

/** Reads standard input up to the limit for secrets. Returns null if it is longer. */
export async function readSecretFromStdin(): Promise<string | null> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of Bun.stdin.stream()) {
    length += chunk.byteLength;
    if (length > STDIN_LIMIT_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** Reads all of standard input as UTF-8. Throws CommandFailure if it is not UTF-8. */
export async function readAll(): Promise<string> {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await Bun.stdin.bytes());
  } catch (error) {
    if (!errorCode(error).startsWith("ERR_")) throw error;
    throw new CommandFailure("stdin is not UTF-8 text: save it as UTF-8 and import again");
  }
}
