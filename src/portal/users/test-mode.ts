// Test mode: the same pages on the reseller's test account, below a path of their own. The action opens that account.

import type { Redirect } from "../../web/server/results.ts";
import type { Submission } from "../server/call.ts";
import { TEST_SIDE } from "../server/visitor.ts";

/** Opens the test account if there is none yet, and leads to its first page. */
export async function enterTestMode(submission: Submission): Promise<Redirect> {
  await submission.submit("openOwnTestAccount", {});
  return { to: `/..${TEST_SIDE}/` };
}
