// The operator, as ledger and audit log record it: the OS user that runs this command, by its user id and not by the
// environment; beside it who logged in, where that is someone else (`sudo -u reseller`), and the name of --as.
// docs/decisions/0069-who-is-behind-a-service-user.md.

import { readFileSync } from "node:fs";
import { sudoUser } from "../config/flags.ts";
import type { Actor } from "../domain/ledger.ts";

const PASSWD = "/etc/passwd";
/** The audit subsystem's login user id: set once at the login, kept by sudo and su, and not to be changed without privilege. */
const LOGIN_ID = "/proc/self/loginuid";
/** Of a process that no login started. */
const NO_LOGIN = 2 ** 32 - 1;
/** What the kernel and NSS take as a name; a domain may stand before it. SUDO_USER is the environment's, so anything. */
const USER_NAME = /^[\w.@\\+-]{1,64}\$?$/;

/** `as`: of --as; it stands beside the names, never in their place. */
export function operator(as?: string): Actor {
  const user = nameOf(process.getuid?.() ?? 0);
  return { keyId: null, operator: authorOf(user, loginName(), as) };
}

/** `reseller`, `reseller (alice)`, `reseller (alice) as nightly-import`. */
export function authorOf(user: string, login: string | null, as: string | undefined): string {
  const beside = login === null || login === user ? "" : ` (${login})`;
  return user + beside + (as === undefined ? "" : ` as ${as}`);
}

/** The kernel's word before sudo's: after `sudo -i` and another sudo, SUDO_USER is root. */
function loginName(): string | null {
  const id = loginId();
  if (id !== null) return nameOf(id);
  const name = sudoUser();
  return name !== undefined && USER_NAME.test(name) ? name : null;
}

/** Null on systems without it. */
function loginId(): number | null {
  try {
    const id = Number(readFileSync(LOGIN_ID, "utf8"));
    return Number.isInteger(id) && id !== NO_LOGIN ? id : null;
  } catch {
    return null;
  }
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
