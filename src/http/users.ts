// GET /balance, GET /user and POST /recharge. docs/specification.md#get-balance, #get-user, #post-recharge.

import type { Awaitable, ReadStore } from "../db/port.ts";
import { balanceOf, findTestAccount, findUser } from "../db/users.ts";
import { Refusal, refusal } from "../domain/refusals.ts";
import { jsonAmount } from "../domain/money.ts";
import { isInScope } from "../domain/users.ts";
import { rechargeResponse, userBalances } from "../domain/responses.ts";
import { amountField, readBody, usernameField } from "./body.ts";
import type { Call } from "./endpoint.ts";
import { type ClaimDeps, respondOnce, claimOf } from "./idempotency.ts";
import { queryOf } from "./query.ts";

export function getBalance({ store }: { store: ReadStore }, { key }: Call): Awaitable<object> {
  return store.read((reader) => {
    const balance = jsonAmount(balanceOf(reader, key.resellerAccount));
    return { status: "success", balance, currency: "USD" };
  });
}

export function getUser(
  { store }: { store: ReadStore },
  { request, key }: Call,
): Awaitable<object> {
  const username = usernameField({ username: queryOf(request).get("username") });
  return store.read((reader) => {
    const user = findUser(reader, username);
    if (!user) throw new Refusal("user_not_found", { exists: false });
    const { testOf, resellerAccount } = key;
    if (!isInScope(key.reach, testOf ?? resellerAccount, user)) throw refusal("user_out_of_reach");
    // Until its first credit a user has no test account.
    const holder = testOf === null ? user : findTestAccount(reader, user.account);
    const balances = userBalances({ ...user, balanceMicros: holder?.balanceMicros ?? 0 });
    return { exists: true, user: { ...balances, resellerId: user.resellerId } };
  });
}

export async function postRecharge(deps: ClaimDeps, call: Call): Promise<object> {
  const { writer } = deps;
  const { request, key } = call;
  const { bytes, fields } = await readBody(request);
  const recharge = {
    keyId: key.id,
    resellerAccount: key.resellerAccount,
    isTest: key.testOf !== null,
    username: usernameField(fields),
    amountMicros: amountField(fields),
  };
  const claim = claimOf(request, bytes);
  if (!claim) return rechargeResponse(await writer.submit("recharge", recharge));
  const act = () => writer.submit("rechargeOnce", { recharge, claim });
  return respondOnce(deps, call, claim, act, rechargeResponse);
}
