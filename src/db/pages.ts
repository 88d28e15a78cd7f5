// Pages of a list: a cursor is a number, never a time or an offset, so that rows added meanwhile do not shift the next page.

export interface Page<Row> {
  /** Newest first. */
  rows: Row[];
  /** The number below which the next page begins; null at the end of the list. */
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
