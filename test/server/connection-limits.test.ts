// How the limit of open files is shared.

import { expect, test } from "bun:test";
import { OTHER_FILES, planFiles } from "../../src/server/connection-limits.ts";

const COUNTS = [null, 1, 10, 100, 1000, 10_000, 1_000_000];
const FILES = [256, 300, 512, 1024, 4096, 65_536, 1_048_576];

test.each(FILES)(
  "with %d files, connections and calls leave enough for the database and the rest",
  (files) => {
    for (const maxConnections of COUNTS) {
      for (const maxConnectionsPerAddress of COUNTS) {
        const plan = planFiles({ maxConnections, maxConnectionsPerAddress }, files);
        expect(plan.connections + plan.calls + OTHER_FILES).toBeLessThanOrEqual(files);
        expect(plan.connections).toBeLessThanOrEqual(maxConnections ?? 10_000);
        expect(plan.perAddress).toBeLessThanOrEqual(
          Math.min(plan.connections, maxConnectionsPerAddress ?? 1000),
        );
        for (const each of [plan.connections, plan.calls, plan.perAddress]) {
          expect(each).toBeGreaterThanOrEqual(1);
        }
      }
    }
  },
);

test("an address has at most a quarter by default, and limits beyond the open files are reported", () => {
  const defaults = { maxConnections: null, maxConnectionsPerAddress: null };
  expect(planFiles(defaults, 65_536)).toEqual({
    files: 65_536,
    calls: 1024,
    connections: 10_000,
    perAddress: 1000,
    warning: null,
  });
  expect(planFiles(defaults, 512)).toMatchObject({ connections: 208, perAddress: 52 });
  expect(planFiles(defaults, 512).warning).toStartWith("the limit for open files is low");
  const asked = planFiles({ ...defaults, maxConnections: 5000 }, 4096);
  expect(asked.warning).toStartWith("--max-connections exceeds");
  expect(asked.connections).toBeLessThan(5000);
});
