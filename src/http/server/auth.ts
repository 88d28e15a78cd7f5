// Authentication and authorization, steps 2 to 6 of docs/specification/http.md#precedence: address over its limit (429)
// → missing or unknown key (401) → key inactive, expired, wrong address, no permission (403) → key over its limit
// (429).

import { isWithin, type Network, parseNetwork } from "../../config/networks.ts";
import type { Caller } from "../../db/users/keys.ts";
import { after, type Awaitable } from "../../db/port/port.ts";
import { type Refusal, refusal } from "../../domain/values/error-table.ts";
import {
  hashKey,
  isKeyWellFormed,
  type Permission,
  refuseEndedKey,
  refuseMissingPermission,
} from "../../domain/users/keys.ts";
import type { Allowance, RateLimits } from "./rate-limits.ts";

/**
 * Limit for cached parsed allow lists. Parsing a list of two networks takes 10 µs of CPU time, a third of a request.
 */
const PARSED_LIMIT = 1000;

export interface AuthDeps {
  /** Milliseconds since 1970. */
  now: () => number;
  limits: RateLimits;
  findKey(hash: string): Awaitable<Readonly<Caller> | undefined>;
  /** Records that a key was used, for `key list`. */
  recordKeyUse(keyId: string, now: number, caller: Pick<AuthRequest, "address">): void;
}

/** What a route requires of a caller's key. */
export interface RouteNeeds {
  permission: Permission;
  /** Whether only a test key may call it; for any other key the path is not found. */
  test?: boolean;
}

/** The request that is authenticated. */
export interface AuthRequest {
  /** Computes the client's address; most requests do not need it. */
  address(): string;
  /** Id of the key. This and the next two members are set once the key is found, even if the key is then refused. */
  keyId: string | null;
  username: string | null;
  isTest: boolean;
  /** The text of the key, as it was sent. */
  keyText: string | null;
  /** What the key may still request; null until its request is counted. */
  allowance: Allowance | null;
  /** Called for a key that does not exist. `mistyped`: its checksum is wrong, so it never existed. */
  noteUnknownKey(mistyped: boolean): void;
}

/**
 * Finds and checks the caller's key. Refuses, in this order: too_many_requests (address), api_key_missing,
 * api_key_invalid, api_key_inactive, api_key_expired, api_key_address_refused, not_found, permission_denied,
 * too_many_requests (key).
 */
export function authenticate(
  deps: AuthDeps,
  caller: AuthRequest,
  needs: RouteNeeds,
  /** The text of the key, as it was sent. */
  text: string | null,
): Awaitable<Readonly<Caller>> {
  const { limits } = deps;
  caller.keyText = text;
  if (limits.hasFailures()) limits.refuseGuessing(caller.address());
  if (!text) throw refusal("api_key_missing");
  // Any key costs one hash and one look-up of that hash, so timing does not reveal how close it is to a real one.
  return after(deps.findKey(hashKey(text)), (key) => {
    if (!key) throw unknownKey(deps, caller, text);
    authorize(deps, caller, key, needs, deps.now());
    return key;
  });
}

function unknownKey({ limits }: AuthDeps, caller: AuthRequest, text: string): Refusal {
  const address = caller.address();
  // Other requests from this address may have failed while the key was looked up.
  limits.refuseGuessing(address);
  limits.noteFailure(address);
  caller.noteUnknownKey(!isKeyWellFormed(text));
  return refusal("api_key_invalid");
}

function authorize(
  deps: AuthDeps,
  caller: AuthRequest,
  key: Readonly<Caller>,
  needs: RouteNeeds,
  now: number,
): void {
  caller.keyId = key.id;
  caller.username = key.username;
  caller.isTest = key.testOf !== null;
  refuseEndedKey(key, now);
  if (key.allow !== "" && !isWithin(caller.address(), networksOf(key.allow))) {
    throw refusal("api_key_address_refused");
  }
  if (needs.test === true && !caller.isTest) throw refusal("not_found");
  refuseMissingPermission(key.type, needs.permission);
  caller.allowance = deps.limits.allowanceOf(key);
  caller.allowance.take();
  deps.recordKeyUse(key.id, now, caller);
}

const parsed = new Map<string, Network[]>();

function networksOf(allow: string): Network[] {
  let networks = parsed.get(allow);
  if (!networks) {
    if (parsed.size >= PARSED_LIMIT) parsed.clear();
    networks = allow.split(",").map((text) => parseNetwork(text)!);
    parsed.set(allow, networks);
  }
  return networks;
}
