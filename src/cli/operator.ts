// The operator, as the ledger records it: the OS user that runs this command, by its user id and not by the environment.

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
    // A system without the file (a container `FROM scratch`) still has user ids.
  }
  return `uid ${uid}`;
}
