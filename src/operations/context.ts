// What an operation gets besides its command: the time and new ids. Both are passed in, so that tests can set them.

export interface Context {
  /** Milliseconds since 1970, the same for a whole batch. */
  now: number;
  /** A new id, in cuid2's form. */
  createId: () => string;
}
