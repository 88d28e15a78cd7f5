// What an operation gets besides its command: the time and new ids. Both are passed in, so that tests can set them.

export interface Context {
  /** Milliseconds since 1970, the same for a whole batch. */
  now: number;
  /** The next of the ids that came with the command. */
  createId: () => string;
}

/** For one run of one command: a second run takes the same ids again. */
export function contextOf(now: number, ids: readonly string[]): Context {
  let used = 0;
  const createId = () => {
    const id = ids[used];
    if (id === undefined) throw new Error(`the command came with ${ids.length} ids and needs more`);
    used += 1;
    return id;
  };
  return { now, createId };
}
