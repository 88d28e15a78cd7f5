// Ids of services made of their names: `Instagram Likes [HQ]` becomes `instagram-likes-hq`.

/** Leaves room for a number behind it. */
const LENGTH_LIMIT = 56;

/** Lower-case ASCII letters, digits and hyphens; of a name without any, `service`. */
export function slugOf(name: string): string {
  // Letters lose their accents: é is e and a combining mark.
  const plain = name.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  const slug = plain.replace(/[^a-z0-9]+/g, "-").slice(0, LENGTH_LIMIT);
  return slug.replace(/^-+|-+$/g, "") || "service";
}

/** The first of `slug`, `slug-2`, `slug-3`, … that nobody has. */
export function freeId(name: string, isTaken: (id: string) => boolean): string {
  const slug = slugOf(name);
  for (let count = 1; ; count += 1) {
    const id = count === 1 ? slug : `${slug}-${count}`;
    if (!isTaken(id)) return id;
  }
}
