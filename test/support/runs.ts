// How often a costly property is tried: some times in `check`, which runs before each commit, and as often as ever where
// TEST_RUNS is `all`, as .ci/run sets it.

const ALL = process.env["TEST_RUNS"] === "all";

export function runs(few: number, all: number): number {
  return ALL ? all : few;
}
