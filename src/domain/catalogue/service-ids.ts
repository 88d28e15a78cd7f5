// Makes ids of services from their names: `Instagram Likes [HQ]` becomes `instagram-likes-hq`.

/** Length limit for slugs, which leaves room for a number after them. */
const LENGTH_LIMIT = 56;

/** Reduces a name to lower-case ASCII letters, digits and hyphens; `service` when nothing is left. */
export function slugOf(name: string): string {
  // Removes accents: NFKD splits é into e and a combining mark.
  const plain = name.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  const slug = plain.replace(/[^a-z0-9]+/g, "-").slice(0, LENGTH_LIMIT);
  return slug.replace(/^-+|-+$/g, "") || "service";
}

/** Returns the first of `slug`, `slug-2`, `slug-3`, … that is not taken. */
export function freeId(name: string, isTaken: (id: string) => boolean): string {
  const slug = slugOf(name);
  for (let count = 1; ; count += 1) {
    const id = count === 1 ? slug : `${slug}-${count}`;
    if (!isTaken(id)) return id;
  }
}
