import { userInfo } from "node:os";
import type { Actor } from "../domain/ledger.ts";

/** Whoever runs this command, as the ledger remembers them: the OS user. */
export function operator(): Actor {
  return { keyId: null, operator: userInfo().username };
}
