// GET /user and POST /recharge. docs/specification/endpoints.md#get-user, #post-recharge.

import type { Awaitable, ReadStore } from "../../db/port/port.ts";
import { findTestAccount, findUser } from "../../db/users/users.ts";
import { Refusal, refusal } from "../../domain/values/error-table.ts";
import { isInReach } from "../../domain/users/users.ts";
import { rechargeResponse, userBalances } from "../../domain/orders/responses.ts";
import { amountField, readBody, usernameField } from "../read/body.ts";
import type { LimitedRecharge, Recharged } from "../../operations/ledger/recharges.ts";
import type { Call } from "../server/endpoint.ts";
import { type ClaimDeps, respondOnce, readClaim } from "../server/idempotency.ts";
import { queryOf } from "../read/query.ts";
import { getUser as describeUser, recharge } from "../../api-docs/endpoints/users.ts";
import { LOOKUP, RECHARGE, type Route } from "../server/api-route.ts";

function getUser({ store }: { store: ReadStore }, { request, key }: Call): Awaitable<object> {
  const username = usernameField({ username: queryOf(request).get("username") });
  return store.read((reader) => {
    const user = findUser(reader, username);
    if (!user) throw new Refusal("user_not_found", { exists: false });
    const { testOf, resellerAccount } = key;
    if (!isInReach(key.reach, testOf ?? resellerAccount, user)) throw refusal("user_out_of_reach");
    // A user has no test account until its first credit.
    const holder = testOf === null ? user : findTestAccount(reader, user.account);
    const balances = userBalances({ ...user, balanceMicros: holder?.balanceMicros ?? 0 });
    return { exists: true, user: { ...balances, resellerId: user.resellerId } };
  });
}

async function postRecharge(deps: ClaimDeps, call: Call): Promise<object> {
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
  const claim = readClaim(request, bytes);
  if (!claim) return rechargeResponse(withinLimits(await writer.submit("recharge", recharge)));
  const act = async () => {
    const outcome = await writer.submit("rechargeOnce", { recharge, claim });
    return outcome.response ? outcome : { ...outcome, effect: withinLimits(outcome.effect) };
  };
  return respondOnce(deps, call, claim, act, rechargeResponse);
}

/** Refuses: recharge_limit_exceeded, daily_limit_exceeded. */
function withinLimits(outcome: Recharged | LimitedRecharge): Recharged {
  if (!("limited" in outcome)) return outcome;
  const { code, details } = outcome.limited;
  throw new Refusal<typeof code>(code, details);
}

export const routes: readonly Route<ClaimDeps & { store: ReadStore }>[] = [
  ["GET", "/api/v1/user", LOOKUP, getUser, describeUser],
  ["POST", "/api/v1/recharge", RECHARGE, postRecharge, recharge],
];
