// What an operation may know besides its command: the time and fresh ids. Both are given, never taken.

export interface Context {
  /** Milliseconds since 1970, the same for a whole batch. */
  now: number;
  /** A new id, in cuid2's form. */
  createId: () => string;
}
