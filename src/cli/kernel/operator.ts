// The operator's name in the ledger and the audit log, such as `reseller (alice) as nightly-import`. It has three parts:
// - the OS user that runs this command, found by its user id and not by the environment
// - the user who logged in, if that is another one (`sudo -u reseller`)
// - the name given by --as
// The parts are one text, because each table has one column for it. They contain no spaces, so they can be told apart.

import { readFileSync } from "node:fs";
import { sudoUser } from "../../config/flags.ts";
import type { Actor } from "../../domain/ledger/ledger.ts";

const PASSWD = "/etc/passwd";
/**
 * The login user id of the audit subsystem. It is set once at login, kept by sudo and su, and cannot be changed
 * without privilege.
 */
const LOGIN_ID = "/proc/self/loginuid";
/** The login user id of a process that was not started from a login. */
const NO_LOGIN = 2 ** 32 - 1;
/**
 * A user name as the kernel and NSS accept it, optionally with a domain before it. SUDO_USER comes from the
 * environment, so it may hold anything.
 */
const USER_NAME = /^[\w.@\\+-]{1,64}\$?$/;

/**
 * Returns the operator as an actor. `as`: the name of --as, which is added to the user names and never replaces them.
 */
export function operator(as?: string): Actor {
  const user = findLoginName(process.getuid?.() ?? 0);
  return { keyId: null, operator: authorOf(user, loginName(), as) };
}

/** Returns the parts as one text. Only the first one is always there. */
export function authorOf(user: string, login: string | null, as: string | undefined): string {
  const beside = login === null || login === user ? "" : ` (${login})`;
  return user + beside + (as === undefined ? "" : ` as ${as}`);
}

/**
 * Returns the name of the user who logged in. The kernel's id is preferred to SUDO_USER, which is root after
 * `sudo -i` and another sudo.
 */
function loginName(): string | null {
  const id = loginId();
  if (id !== null) return findLoginName(id);
  const name = sudoUser();
  return name !== undefined && USER_NAME.test(name) ? name : null;
}

/** Returns the login user id, or null if the system has none. */
function loginId(): number | null {
  try {
    const id = Number(readFileSync(LOGIN_ID, "utf8"));
    return Number.isInteger(id) && id !== NO_LOGIN ? id : null;
  } catch {
    return null;
  }
}

function findLoginName(uid: number): string {
  try {
    for (const line of readFileSync(PASSWD, "utf8").split("\n")) {
      const [name, , id] = line.split(":");
      if (name && id === String(uid)) return name;
    }
  } catch {
    // A system without this file (a container `FROM scratch`) still has user ids.
  }
  return `uid ${uid}`;
}
