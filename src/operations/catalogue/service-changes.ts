// Writes services, grants and discounts; no other file does. In the same transaction it records what resellers see of
// the change for the changes feed, and sends it to endpoints that subscribe to service.changed.
// docs/specification/endpoints.md#get-services-changes.

import {
  changesOf,
  offeredTerms,
  type OfferedService,
  offerOf,
  type OfferedTerms,
  type OwnTerms,
  ownTerms,
  serviceChangedData,
} from "../../domain/catalogue/service-changes.ts";
import type { Tx } from "../../db/port/port.ts";
import { insertServiceChange } from "../../db/catalogue/service-changes.ts";
import {
  deleteGrant,
  deleteService,
  type Grant,
  insertService,
  listServices,
  type NewService,
  putGrant,
  type Service,
  updateService,
} from "../../db/catalogue/services.ts";
import { grants } from "../../db/tables/catalogue.ts";
import { users } from "../../db/tables/users.ts";
import { findTestAccount, updateUserFields, type User } from "../../db/users/users.ts";
import { listWebhooks, type Webhook } from "../../db/webhooks/webhooks.ts";
import type { Context } from "../batch/context.ts";
import { endpointsFor, endpointsOf, insertEvent } from "../webhooks/webhook-events.ts";

const EVENT = "service.changed";

/** The endpoints that receive service.changed, by account. */
export type ServiceListeners = ReadonlyMap<number, Webhook[]>;

/** Reads the listeners, once for a command, before its writes: an import may have a hundred thousand services. */
export function listServiceListeners(tx: Tx, context: Context): ServiceListeners {
  const wanting = endpointsOf(listWebhooks(tx), EVENT, context);
  return Map.groupBy(wanting, ({ resellerAccount }) => resellerAccount);
}

/** Adds a service. Returns it with its number. */
export function addService(
  tx: Tx,
  listeners: ServiceListeners,
  service: NewService,
  context: Context,
): Service {
  const added = insertService(tx, service);
  recordService(tx, listeners, added.id, null, added, context);
  return added;
}

export function changeService(
  tx: Tx,
  listeners: ServiceListeners,
  before: Service,
  after: Service,
  context: Context,
): Service {
  const changed = updateService(tx, after);
  recordService(tx, listeners, before.id, before, changed, context);
  return changed;
}

/** Deletes a service that nothing refers to. */
export function removeService(
  tx: Tx,
  listeners: ServiceListeners,
  service: Service,
  context: Context,
): void {
  recordService(tx, listeners, service.id, service, null, context);
  deleteService(tx, service);
}

/** Writes a grant that is new or changed. */
export function changeGrant(
  tx: Tx,
  service: Service,
  before: Grant | undefined,
  grant: Grant,
  context: Context,
): Grant {
  const after = putGrant(tx, before, grant);
  recordGrant(tx, service, grant.resellerAccount, { before, after }, context);
  return after;
}

export function removeGrant(tx: Tx, service: Service, grant: Grant, context: Context): void {
  deleteGrant(tx, grant);
  const { resellerAccount } = grant;
  recordGrant(tx, service, resellerAccount, { before: grant, after: undefined }, context);
}

/** Changes a discount. The reseller's own prices stay; all other prices change. The caller holds CATALOGUE_LOCK. */
export function changeDiscount(tx: Tx, user: User, discountPpm: number, context: Context): void {
  const { account } = user;
  const all = listServices(tx);
  const sides = listenersOfSides(tx, account, context);
  const recorded = { at: context.now, resellerAccount: account };
  updateUserFields(tx, account, { discountPpm });
  insertServiceChange(tx, {
    ...recorded,
    serviceId: null,
    before: null,
    after: null,
    ownBefore: ownTerms(undefined, user.discountPpm),
    ownAfter: ownTerms(undefined, discountPpm),
  });
  tx.each(all, (service) => {
    const grant = tx.row(grants.byKey, service.id, account);
    const own = {
      before: ownTerms(grant, user.discountPpm),
      after: ownTerms(grant, discountPpm),
    };
    const terms = offeredTerms(service);
    const offers = offersOf(service.id, { before: terms, after: terms }, own);
    if (changesOf(offers.before, offers.after).length === 0) return;
    insertOwn(tx, service.id, account, terms, own, context);
    for (const side of sides) insertServiceEvent(tx, side, offers, context);
  });
}

/**
 * Records a change of a service, for every reseller that may order it before or after the change. `before` is null for
 * a new service, `after` for a deleted one.
 */
function recordService(
  tx: Tx,
  listeners: ServiceListeners,
  id: string,
  before: Service | null,
  after: Service | null,
  context: Context,
): void {
  const terms = { before: before && offeredTerms(before), after: after && offeredTerms(after) };
  if (terms.before && terms.after && areEqual(terms.before, terms.after)) return;
  const forEveryReseller = { resellerAccount: null, ownBefore: null, ownAfter: null };
  insertServiceChange(tx, { at: context.now, serviceId: id, ...terms, ...forEveryReseller });
  if (listeners.size === 0) return;
  tx.each([...listeners], ([account, endpoints]) => {
    const owner = tx.row(users.byKey, account)!.testOf ?? account;
    const { discountPpm } = tx.row(users.byKey, owner)!;
    const own = ownTerms(tx.row(grants.byKey, id, owner), discountPpm);
    const offers = offersOf(id, terms, { before: own, after: own });
    insertServiceEvent(tx, { account, endpoints }, offers, context);
  });
}

function recordGrant(
  tx: Tx,
  service: Service,
  account: number,
  { before, after }: { before: Grant | undefined; after: Grant | undefined },
  context: Context,
): void {
  const terms = offeredTerms(service);
  const { discountPpm } = tx.row(users.byKey, account)!;
  const own = { before: ownTerms(before, discountPpm), after: ownTerms(after, discountPpm) };
  const offers = offersOf(service.id, { before: terms, after: terms }, own);
  const sides = listenersOfSides(tx, account, context);
  insertOwn(tx, service.id, account, terms, own, context);
  for (const side of sides) insertServiceEvent(tx, side, offers, context);
}

/** A value before and after a change. */
interface OwnTermsChange<T> {
  before: T;
  after: T;
}

function insertOwn(
  tx: Tx,
  serviceId: string,
  resellerAccount: number,
  terms: OfferedTerms,
  own: OwnTermsChange<OwnTerms>,
  { now }: Context,
): void {
  insertServiceChange(tx, {
    at: now,
    serviceId,
    resellerAccount,
    before: terms,
    after: terms,
    ownBefore: own.before,
    ownAfter: own.after,
  });
}

function offersOf(
  id: string,
  terms: OwnTermsChange<OfferedTerms | null>,
  own: OwnTermsChange<OwnTerms>,
): OwnTermsChange<OfferedService | null> {
  return {
    before: offerOf(id, terms.before, own.before),
    after: offerOf(id, terms.after, own.after),
  };
}

/** An account with its endpoints that receive service.changed. */
interface Listener {
  account: number;
  endpoints: readonly Webhook[];
}

/** Returns a reseller and its test account, which also receives the events. */
function listenersOfSides(tx: Tx, account: number, context: Context): Listener[] {
  const test = findTestAccount(tx, account);
  const accounts = test ? [account, test.account] : [account];
  return accounts.map((each) => ({
    account: each,
    endpoints: endpointsFor(tx, each, EVENT, context),
  }));
}

function insertServiceEvent(
  tx: Tx,
  { account, endpoints }: Listener,
  offers: OwnTermsChange<OfferedService | null>,
  context: Context,
): void {
  const data = serviceChangedData(offers.before, offers.after);
  if (data) insertEvent(tx, { account, type: EVENT, data }, endpoints, context);
}

function areEqual(a: OfferedTerms, b: OfferedTerms): boolean {
  return (Object.keys(a) as (keyof OfferedTerms)[]).every((field) => a[field] === b[field]);
}
