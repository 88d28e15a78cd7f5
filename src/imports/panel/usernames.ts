// Usernames of an import in which several users have the same one, whatever its case: the first keeps it, the others get
// `-` and their id (`usernameTwice = "suffix"`). A repeated import gives each user the same name again.
// docs/specification/imports.md#import-values.

const LENGTH_LIMIT = 64;
/** Limit for the id in a name. */
const ID_LENGTH = 32;

export class Usernames {
  /** The id in the other panel of the user who has a name, by the name in lower case. */
  readonly #holders = new Map<string, string>();
  /** The next number to try, by the name without it. */
  readonly #next = new Map<string, number>();

  /** `imported`: the usernames here of the users that were imported before, by their ids in the other panel. */
  constructor(readonly imported: ReadonlyMap<string, string>) {
    for (const [source, username] of imported) this.claim(source, username);
  }

  /** Gives a name to the first who claims it. All users claim their names before any is named. */
  claim(source: string, username: string): void {
    const name = username.toLowerCase();
    if (!this.#holders.has(name)) this.#holders.set(name, source);
  }

  /** Returns the name of a user. */
  nameOf(source: string, username: string): string {
    const before = this.imported.get(source);
    if (before !== undefined && isMadeOf(before, source, username)) return before;
    if (this.#take(source, username)) return username;
    const base = withSuffix(username, source, 1).toLowerCase();
    for (let number = this.#next.get(base) ?? 1; ; number += 1) {
      const name = withSuffix(username, source, number);
      if (!this.#take(source, name)) continue;
      this.#next.set(base, number + 1);
      return name;
    }
  }

  /** Returns whether the user has the name, which it takes if nobody has it. */
  #take(source: string, username: string): boolean {
    this.claim(source, username);
    return this.#holders.get(username.toLowerCase()) === source;
  }
}

/** The first name that is tried has no number. */
function withSuffix(username: string, source: string, number: number): string {
  const id = source.replaceAll(/[^A-Za-z0-9._@+-]/g, "_").slice(0, ID_LENGTH);
  const suffix = number === 1 ? `-${id}` : `-${id}-${number}`;
  return username.slice(0, LENGTH_LIMIT - suffix.length) + suffix;
}

/** Returns whether `name` is a name that `username` may have become. */
function isMadeOf(name: string, source: string, username: string): boolean {
  const number = Number(/-(\d{1,9})$/.exec(name)?.[1] ?? 1);
  const names = [username, withSuffix(username, source, 1), withSuffix(username, source, number)];
  return names.some((each) => each.toLowerCase() === name.toLowerCase());
}
