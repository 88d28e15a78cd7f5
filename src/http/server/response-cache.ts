// Response cache: bodies of one version, each with its owner, up to a limit of characters. The least recently used body
// is evicted. Measurements: service-list-cache.ts.

export interface ResponseCache {
  get(version: number, owner: number | null): string | undefined;
  /** Keeps a body, unless it is larger than the whole cache. A new version evicts the bodies of the previous one. */
  set(version: number, owner: number | null, body: string): void;
}

/** Creates a cache. A character takes one byte, or two in a body with any character beyond Latin-1. */
export function createResponseCache(characterLimit: number): ResponseCache {
  const bodies = new Map<number | null, string>();
  let characters = 0;
  let keptVersion: number | null = null;
  return {
    get(version, owner) {
      const body = version === keptVersion ? bodies.get(owner) : undefined;
      if (body === undefined) return undefined;
      // Deleted and set again, so that the map is in the order of the last use.
      bodies.delete(owner);
      bodies.set(owner, body);
      return body;
    },
    set(version, owner, body) {
      if (version !== keptVersion) {
        bodies.clear();
        characters = 0;
        keptVersion = version;
      }
      if (body.length > characterLimit) return;
      characters += body.length - (bodies.get(owner)?.length ?? 0);
      bodies.delete(owner);
      bodies.set(owner, body);
      for (const [oldest, { length }] of bodies) {
        if (characters <= characterLimit) break;
        bodies.delete(oldest);
        characters -= length;
      }
    },
  };
}
