// From times to numbers, with a clock that jumps.

import { expect, test } from "bun:test";
import fc from "fast-check";
import { raiseFloor } from "../../support/http/number-floors.ts";
import { transact } from "../../../src/db/port/port.ts";
import { runCommand } from "../../../src/operations/batch/commands.ts";
import { createContext } from "../../../src/operations/batch/context.ts";
import { freshDatabase, OPERATOR } from "../../support/databases/test-database.ts";

/** Mostly forward, sometimes back. */
const step = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 0, max: 5 }) },
  { weight: 1, arbitrary: fc.integer({ min: -40, max: -1 }) },
  { weight: 1, arbitrary: fc.integer({ min: 6, max: 60 }) },
);
const bound = fc.option(fc.integer({ min: 900, max: 1300 }), { nil: null });

class Undo extends Error {}

/** Numbers that a restore skips before a row. */
const gap = fc.oneof(
  { weight: 4, arbitrary: fc.constant(0) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 1000 }) },
);

test("the spans of a window hold exactly the rows whose time is in it, however the clock jumped", () => {
  const database = freshDatabase();
  const { connection } = database;
  database.user("anna");
  const lastNumber = connection.sqlite.query("SELECT max(seq) AS seq FROM transfers");
  const credit = { username: "anna", amountMicros: 1, note: null, actor: OPERATOR };
  // Before the first row: later the floor is not asked any more.
  void transact(connection.store, (tx) => raiseFloor(tx, "transfers", 1));
  const check = (steps: [number, number][], from: number | null, to: number | null) =>
    transact(connection.store, (tx) => {
      let time = 1000;
      let number = 1;
      const times = steps.map(([jump]) => (time += jump));
      const numbers = steps.map(([, gap], index) => {
        raiseFloor(tx, "transfers", (number += gap));
        runCommand(tx, "creditUser", credit, createContext(times[index]!, [], "seed"));
        expect(lastNumber.get()).toEqual({ seq: ++number });
        return number;
      });
      const spans = connection.store.reader.spans("transfers", 0, { from, to });
      const inside = numbers.map((number) =>
        spans.some(({ first, last }) => first <= number && number <= last),
      );
      expect(inside).toEqual(
        times.map((at) => at >= (from ?? -Infinity) && at <= (to ?? Infinity)),
      );
      for (const [index, { last }] of spans.entries()) {
        expect(last).toBeLessThan(spans[index - 1]?.first ?? Infinity);
      }
      throw new Undo();
    });
  fc.assert(
    fc.property(
      fc.array(fc.tuple(step, gap), { maxLength: 60 }),
      bound,
      bound,
      (steps, from, to) => {
        expect(() => check(steps, from, to)).toThrow(Undo);
      },
    ),
    { numRuns: 300 },
  );
  connection.sqlite.close();
});
