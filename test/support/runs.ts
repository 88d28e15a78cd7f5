// How often a costly property is tried, or in how many forms: few times before each commit and in .ci/run, and all where
// TEST_RUNS is `all`, as .ci/nightly sets it.

const ALL = process.env["TEST_RUNS"] === "all";

export function runs<T>(few: T, all: T): T {
  return ALL ? all : few;
}

/** Returns every `step`-th row of a table, or all rows. */
export function sampleOf<Row>(table: readonly Row[], step: number): Row[] {
  return table.filter((_, index) => runs(index % step === 0, true));
}

/** Returns each row with one column, the columns taking turns; or each row with each column. */
export function pairsOf<Row, Column>(
  rows: readonly Row[],
  columns: readonly Column[],
): [Row, Column][] {
  return rows.flatMap((row, index) =>
    columns
      .filter((_, place) => runs(place === index % columns.length, true))
      .map((column): [Row, Column] => [row, column]),
  );
}
