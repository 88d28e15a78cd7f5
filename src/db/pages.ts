// A list that goes on by number, never by time or by how many came before: what is added meanwhile moves nothing.

export interface Page<Row> {
  /** Newest first. */
  rows: Row[];
  /** The number below which the list goes on; null at its end. */
  next: number | null;
}

/** The `limit` highest numbers of several lists, highest first. No number is in two of them. */
export function mergeNewest(lists: readonly number[][], limit: number): number[] {
  if (lists.length === 1) return lists[0]!.slice(0, limit);
  return lists
    .flat()
    .sort((a, b) => b - a)
    .slice(0, limit);
}
