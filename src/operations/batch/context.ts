// What an operation gets besides its command: the time and new ids. They are passed in, so that tests can set them.

export interface Context {
  /** Milliseconds since 1970, the same for a whole batch. */
  now: number;
  /** Returns the next of the ids that were sent with the command. */
  createId: () => string;
  /**
   * Returns the next id of an event. They are not sent with the command, because their number is known only when it
   * runs.
   */
  createEventId: () => string;
}

const EVENT_ID_PREFIX = "evt_";
const EVENT_ID_LENGTH = 24;

/**
 * Returns the context for one run of a command. A second run takes the same ids. `seed`: a random text, different for
 * each command.
 */
export function createContext(now: number, ids: readonly string[], seed: string): Context {
  let used = 0;
  let events = 0;
  const createId = () => {
    const id = ids[used];
    if (id === undefined) throw new Error(`the command came with ${ids.length} ids and needs more`);
    used += 1;
    return id;
  };
  const createEventId = () => {
    events += 1;
    return eventIdOf(`${seed}.${events}`);
  };
  return { now, createId, createEventId };
}

/** Returns an id made from the text: `evt_` and 24 lower-case letters and digits, which hold 124 bits of its hash. */
export function eventIdOf(text: string): string {
  const digits = BigInt(`0x${Bun.SHA256.hash(text, "hex")}`).toString(36);
  return EVENT_ID_PREFIX + digits.slice(-EVENT_ID_LENGTH).padStart(EVENT_ID_LENGTH, "0");
}
