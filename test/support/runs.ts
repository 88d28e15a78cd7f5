// How often a costly property is tried, or in how many forms: few times before each commit and in .ci/run, and all where
// TEST_RUNS is `all`, as .ci/nightly sets it.

const ALL = process.env["TEST_RUNS"] === "all";

export function runs<T>(few: T, all: T): T {
  return ALL ? all : few;
}
