// The engine that the tests run on.

export type Engine = "sqlite" | "postgres";

/** Of the databases that tests fill: that of TEST_ENGINE, which `test:postgres` sets. */
export const ENGINE: Engine = process.env["TEST_ENGINE"] === "postgres" ? "postgres" : "sqlite";
