// Passwords: argon2id, which takes memory and tens of milliseconds by design. So few at once, a short queue, and then a
// refusal: signing in must not take the machine from those who order.

import { Refusal } from "../domain/refusals.ts";

const AT_ONCE = 2;
const QUEUE_LIMIT = 16;
const RETRY_AFTER_SECONDS = 2;

export interface Passwords {
  hash(password: string): Promise<string>;
  /** As long for a name that nobody has (null). Refuses: sign_in_limited. */
  isRight(password: string, hash: string | null): Promise<boolean>;
}

/** Of Bun's argon2id; what is not given is its default, which is meant for production. */
export type PasswordCost = Pick<Bun.Password.Argon2Algorithm, "memoryCost" | "timeCost">;

export function createPasswords(cost: PasswordCost = {}): Passwords {
  const make = (password: string) =>
    Bun.password.hash(password, { algorithm: "argon2id", ...cost });
  const enter = createGate();
  let unknown: Promise<string> | undefined;
  return {
    hash: (password) => enter(() => make(password)),
    isRight: (password, hash) =>
      enter(async () => {
        if (hash !== null) return Bun.password.verify(password, hash);
        unknown ??= make(crypto.randomUUID());
        await Bun.password.verify(password, await unknown);
        return false;
      }),
  };
}

function createGate() {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (running >= AT_ONCE) {
      if (waiting.length >= QUEUE_LIMIT) {
        throw new Refusal("sign_in_limited", { retryAfterSeconds: RETRY_AFTER_SECONDS });
      }
      // Who leaves hands the place on: nobody who comes meanwhile takes it.
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else running += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}
