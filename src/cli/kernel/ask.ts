// Asks a person on a terminal. Questions go to stderr, because stdout is for results.

import { createInterface } from "node:readline/promises";

/** Returns whether a person at a terminal can answer. */
export function mayAsk(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/** Returns the answer, or null if nobody can be asked or the answer is empty. */
export async function ask(question: string): Promise<string | null> {
  if (!mayAsk()) return null;
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return (await lines.question(`${question} `)).trim() || null;
  } finally {
    lines.close();
  }
}
