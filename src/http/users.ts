// GET /balance, GET /user and POST /recharge. Specification 4.

import { balanceOf, findUser, type User } from "../db/users.ts";
import { refusal } from "../domain/errors.ts";
import { jsonAmount } from "../domain/money.ts";
import { canReach } from "../domain/users.ts";
import { amountField, readFields, usernameField } from "./body.ts";
import type { Api, Call } from "./endpoint.ts";

export function getBalance({ connection }: Api, { key }: Call): object {
  const balance = jsonAmount(balanceOf(connection, key.resellerAccount));
  return { status: "success", balance, currency: "USD" };
}

export function getUser({ connection }: Api, { request, key }: Call): object {
  const username = usernameField({ username: queryOf(request).get("username") });
  const user = findUser(connection, username);
  if (!user) throw refusal("user_unknown");
  if (!canReach(key.reach, key.resellerAccount, user)) throw refusal("user_out_of_reach");
  return { exists: true, user: { ...userBalances(user), resellerId: user.resellerId } };
}

export async function postRecharge({ writer }: Api, { request, key }: Call): Promise<object> {
  const fields = await readFields(request);
  const username = usernameField(fields);
  const amountMicros = amountField(fields);
  const { user, previousBalanceMicros } = await writer.submit("recharge", {
    keyId: key.id,
    reach: key.reach,
    resellerAccount: key.resellerAccount,
    username,
    amountMicros,
  });
  return {
    status: "success",
    user: { ...userBalances(user), previousBalance: jsonAmount(previousBalanceMicros) },
    amount: jsonAmount(amountMicros),
  };
}

/** Read from the text: a Host header that makes no address would throw in `new URL`. */
function queryOf({ url }: Request): URLSearchParams {
  const start = url.indexOf("?");
  return new URLSearchParams(start === -1 ? "" : url.slice(start));
}

/** Both balances are always there; the one that does not apply is 0. */
export function userBalances(user: User) {
  const balance = jsonAmount(user.balanceMicros);
  const isChild = user.parentAccount !== null;
  return {
    id: user.id,
    username: user.username,
    name: user.name,
    balance: isChild ? 0 : balance,
    childBalance: isChild ? balance : 0,
  };
}
