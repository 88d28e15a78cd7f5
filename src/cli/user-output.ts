// Users on standard output.

import type { User } from "../db/users.ts";
import { userBalances } from "../domain/responses.ts";
import { discountPercent } from "../domain/prices.ts";

export function userJson(user: User) {
  return { ...userBalances(user), resellerId: user.resellerId };
}

/** Of a user that may be inactive, and may have a discount. */
export function stateJson(user: User) {
  return { ...userJson(user), active: user.active, discount: discountPercent(user.discountPpm) };
}
