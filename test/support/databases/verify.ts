// What `verify` finds in a test's database, but for its schema.

import { type Problem, runChecks } from "../../../src/db/verify/verify.ts";
import { QUERY_CHECKS } from "../../../src/db/verify/verify-queries.ts";
import { SCAN_CHECKS } from "../../../src/db/verify/verify-scans.ts";
import type { ReadStore } from "../../../src/db/port/port.ts";

export async function verifyStore({ store }: { store: ReadStore }): Promise<Problem[]> {
  const { problems } = await runChecks(store, {
    checks: [...QUERY_CHECKS, ...SCAN_CHECKS],
    isUnreadable: () => false,
    progress() {},
  });
  return problems;
}
