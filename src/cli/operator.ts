// Whoever runs this command, as the ledger remembers them: the OS user, by the kernel's word, not the environment's.

import { readFileSync } from "node:fs";
import type { Actor } from "../domain/ledger.ts";

const PASSWD = "/etc/passwd";

export function operator(): Actor {
  return { keyId: null, operator: nameOf(process.getuid?.() ?? 0) };
}

function nameOf(uid: number): string {
  try {
    for (const line of readFileSync(PASSWD, "utf8").split("\n")) {
      const [name, , id] = line.split(":");
      if (name && id === String(uid)) return name;
    }
  } catch {
    // A system without the file (a container from scratch) still has user numbers.
  }
  return `uid ${uid}`;
}
