// Every refusal that a form of the portal can reach has a text of its own. The list comes from the source, so a new form
// or a new refusal of an operation is in it by itself. texts.test.ts has all languages.

import { expect, test } from "bun:test";
import { en } from "../../../src/portal/texts/en.ts";
import { REFUSALS, type RefusalCode } from "../../../src/domain/values/error-table.ts";
import { reachableRefusals } from "../../support/reachable-refusals.ts";

const REACHED = reachableRefusals(["portal", "web"]);

test("every refusal that a form can reach has a text", () => {
  const missing = [...REACHED].filter(([code]) => !Object.hasOwn(en, `refusal.${code}`));
  expect(missing.map(([code, way]) => `${code}: ${way.join(" > ")}`)).toEqual([]);
});

test("the list is of refusals, and has those of pages, forms, operations and rules", () => {
  const known = new Set(Object.keys(REFUSALS) as RefusalCode[]);
  expect([...REACHED.keys()].filter((code) => !known.has(code as RefusalCode))).toEqual([]);
  // A page, an operation, a rule of the domain, a shared check, and the sign-in.
  for (const code of [
    "order_not_found",
    "key_type_not_allowed",
    "insufficient_balance",
    "member_not_allowed",
    "sign_in_refused",
  ]) {
    expect([code, REACHED.has(code)]).toEqual([code, true]);
  }
});
