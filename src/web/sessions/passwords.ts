// Checks passwords with argon2id, which needs memory and tens of milliseconds by design. Only a few checks run at once,
// others wait in a short queue, and further ones are refused: signing in must not slow down orders.

import { Refusal } from "../../domain/values/error-table.ts";

const AT_ONCE = 2;
const QUEUE_LIMIT = 16;
const RETRY_AFTER_SECONDS = 2;

export interface Passwords {
  /** Hashes a password. `isKnown`: as for isRight, and for whoever was invited. Refuses: sign_in_limited. */
  hash(password: string, isKnown?: boolean): Promise<string>;
  /**
   * Checks a password. `hash`: null for an unknown name, whose check takes as long as that of a known one. `isKnown`:
   * the visitor is signed in, or uses a network from which the name has signed in before. Such visitors have a separate
   * queue that goes first, so strangers cannot block them. Refuses: sign_in_limited.
   */
  isRight(password: string, hash: string | null, isKnown?: boolean): Promise<boolean>;
}

/** Costs of Bun's argon2id. Those that are not given have Bun's defaults, which are meant for production. */
export type PasswordCost = Pick<Bun.Password.Argon2Algorithm, "memoryCost" | "timeCost">;

export function createPasswords(cost: PasswordCost = {}): Passwords {
  const make = (password: string) =>
    Bun.password.hash(password, { algorithm: "argon2id", ...cost });
  const enter = createGate();
  let unknown: Promise<string> | undefined;
  return {
    hash: (password, isKnown = true) => enter(isKnown, () => make(password)),
    isRight: (password, hash, isKnown = false) =>
      enter(isKnown, async () => {
        if (hash !== null) return Bun.password.verify(password, hash);
        unknown ??= make(crypto.randomUUID());
        await Bun.password.verify(password, await unknown);
        return false;
      }),
  };
}

function createGate() {
  let running = 0;
  const known: (() => void)[] = [];
  const strangers: (() => void)[] = [];
  return async <T>(isKnown: boolean, work: () => Promise<T>): Promise<T> => {
    if (running >= AT_ONCE) {
      const waiting = isKnown ? known : strangers;
      if (waiting.length >= QUEUE_LIMIT) {
        throw new Refusal("sign_in_limited", { retryAfterSeconds: RETRY_AFTER_SECONDS });
      }
      // A finished check hands its place to the next in the queue, so a newcomer cannot take it.
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else running += 1;
    try {
      return await work();
    } finally {
      const next = known.shift() ?? strangers.shift();
      if (next) next();
      else running -= 1;
    }
  };
}
