// Questions to a person on a terminal, on stderr: stdout is for results.

import { createInterface } from "node:readline/promises";

/** Null where nobody can be asked, or nothing was answered. */
export async function ask(question: string): Promise<string | null> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return null;
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return (await lines.question(`${question} `)).trim() || null;
  } finally {
    lines.close();
  }
}
