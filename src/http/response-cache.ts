// Bodies that are kept to be given again, one for each owner, while the version they were made of is the current one.
// Where room is short, the one that was not asked for the longest goes.

export interface ResponseCache {
  /** The body kept for `owner`, or the one that `make` makes now: kept, unless it is larger than all the room. */
  bodyOf(version: number, owner: number | null, make: () => string): string;
}

/** A character takes one byte, or two in a body that holds any beyond Latin-1. */
export function createResponseCache(characterLimit: number): ResponseCache {
  const bodies = new Map<number | null, string>();
  let characters = 0;
  let keptVersion: number | null = null;
  return {
    bodyOf(version, owner, make) {
      if (version !== keptVersion) {
        bodies.clear();
        characters = 0;
        keptVersion = version;
      }
      const kept = bodies.get(owner);
      const body = kept ?? make();
      if (body.length > characterLimit) return body;
      if (kept === undefined) characters += body.length;
      // Set anew, so that the map's order is that of the last use.
      bodies.delete(owner);
      bodies.set(owner, body);
      for (const [oldest, { length }] of bodies) {
        if (characters <= characterLimit) break;
        bodies.delete(oldest);
        characters -= length;
      }
      return body;
    },
  };
}
