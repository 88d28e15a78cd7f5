// What an error means to a batch: a failed COMMIT is the server's word only where the session goes on after it.

import { expect, test } from "bun:test";
import { endsSession, errorClassOf } from "../../../../src/db/postgres/connection/errors.ts";

const serverError = (errno: string, severity: string) =>
  Object.assign(new Error(errno), { code: "ERR_POSTGRES_SERVER_ERROR", errno, severity });

test("after a PANIC in a COMMIT, for example on a full or failing disk, the outcome is unknown", () => {
  for (const state of ["53100", "58030", "XX000"]) {
    expect(endsSession(serverError(state, "PANIC"))).toBe(true);
    expect(errorClassOf(serverError(state, "PANIC"))).toBe("lost");
  }
  expect(endsSession(serverError("25P03", "FATAL"))).toBe(true);
  expect(endsSession(serverError("57P01", "FATAL"))).toBe(true);
  expect(endsSession(new Error("Connection closed"))).toBe(true);
});

test("after an ERROR in a COMMIT nothing was committed", () => {
  for (const state of ["23505", "40001", "23514", "53100"]) {
    expect(endsSession(serverError(state, "ERROR"))).toBe(false);
  }
  expect(errorClassOf(serverError("53100", "ERROR"))).toBe("unavailable");
  expect(errorClassOf(serverError("53300", "FATAL"))).toBe("unavailable");
});
