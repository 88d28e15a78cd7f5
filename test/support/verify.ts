// What `verify` finds in a test's database, but for its schema.

import { type Problem, runChecks } from "../../src/db/verify.ts";
import { QUERY_CHECKS } from "../../src/db/verify-queries.ts";
import { SCAN_CHECKS } from "../../src/db/verify-scans.ts";
import type { TestDatabase } from "./service.ts";

export async function verifyStore({ store }: Pick<TestDatabase, "store">): Promise<Problem[]> {
  const { problems } = await runChecks(store, {
    checks: [...QUERY_CHECKS, ...SCAN_CHECKS],
    isUnreadable: () => false,
    progress() {},
  });
  return problems;
}
