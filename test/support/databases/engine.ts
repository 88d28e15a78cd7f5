// The engine that the tests run on.

export type Engine = "sqlite" | "postgres";

/** The engine of the databases that tests fill, from TEST_ENGINE, which `test:postgres` sets. */
export const ENGINE: Engine = process.env["TEST_ENGINE"] === "postgres" ? "postgres" : "sqlite";
