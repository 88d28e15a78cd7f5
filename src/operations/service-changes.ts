// The one place where services and grants are written: with each write, in the same transaction, what it is to resellers is
// recorded for the changes feed, and told to those who asked for service.changed. docs/specification.md#get-services-changes.

import {
  offeredTerms,
  type OfferedService,
  offerOf,
  type OfferedTerms,
  serviceChangedData,
} from "../domain/service-changes.ts";
import type { Tx } from "../db/port.ts";
import { insertServiceChange } from "../db/service-changes.ts";
import {
  deleteGrant,
  type Grant,
  insertService,
  type NewService,
  putGrant,
  type Service,
  updateService,
} from "../db/services.ts";
import { grants, users } from "../db/tables.ts";
import { findTestAccount } from "../db/users.ts";
import { listWebhooks, type Webhook } from "../db/webhooks.ts";
import type { Context } from "./context.ts";
import { endpointsFor, endpointsOf, insertEvent } from "./webhook-events.ts";

const EVENT = "service.changed";

/** The endpoints that are told of services, by account. */
export type ServiceListeners = ReadonlyMap<number, Webhook[]>;

/** Read once for a command, before its writes: an import may have a hundred thousand services. */
export function listServiceListeners(tx: Tx, context: Context): ServiceListeners {
  const wanting = endpointsOf(listWebhooks(tx), EVENT, context);
  return Map.groupBy(wanting, ({ resellerAccount }) => resellerAccount);
}

/** Returns the service with its number. */
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

/** A grant given or changed. */
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

/** A grant withdrawn. */
export function removeGrant(tx: Tx, service: Service, grant: Grant, context: Context): void {
  deleteGrant(tx, grant);
  const { resellerAccount } = grant;
  recordGrant(tx, service, resellerAccount, { before: grant, after: undefined }, context);
}

/** `before`: null for a new service. Told to every reseller that may order it, before or after the change. */
function recordService(
  tx: Tx,
  listeners: ServiceListeners,
  id: string,
  before: Service | null,
  after: Service,
  context: Context,
): void {
  const terms = { before: before && offeredTerms(before), after: offeredTerms(after) };
  if (terms.before && areEqual(terms.before, terms.after)) return;
  const ofAll = { resellerAccount: null, ownBefore: null, ownAfter: null };
  insertServiceChange(tx, { at: context.now, serviceId: id, ...terms, ...ofAll });
  if (listeners.size === 0) return;
  tx.each([...listeners], ([account, endpoints]) => {
    const { testOf } = tx.row(users.byKey, account)!;
    const grant = tx.row(grants.byKey, id, testOf ?? account) ?? null;
    const offers = {
      before: offerOf(id, terms.before, grant),
      after: offerOf(id, terms.after, grant),
    };
    insertServiceEvent(tx, account, offers, endpoints, context);
  });
}

/** The test side of the reseller is told too. */
function recordGrant(
  tx: Tx,
  service: Service,
  account: number,
  { before, after }: { before: Grant | undefined; after: Grant | undefined },
  context: Context,
): void {
  const terms = offeredTerms(service);
  const own = { before: ownTerms(before), after: ownTerms(after) };
  insertServiceChange(tx, {
    at: context.now,
    serviceId: service.id,
    resellerAccount: account,
    before: terms,
    after: terms,
    ownBefore: own.before,
    ownAfter: own.after,
  });
  const offers = {
    before: offerOf(service.id, terms, own.before),
    after: offerOf(service.id, terms, own.after),
  };
  const test = findTestAccount(tx, account);
  const accounts = test ? [account, test.account] : [account];
  const told = accounts.map((each) => endpointsFor(tx, each, EVENT, context));
  for (const [place, each] of accounts.entries()) {
    insertServiceEvent(tx, each, offers, told[place]!, context);
  }
}

function insertServiceEvent(
  tx: Tx,
  account: number,
  offers: { before: OfferedService | null; after: OfferedService | null },
  endpoints: readonly Webhook[],
  context: Context,
): void {
  const data = serviceChangedData(offers.before, offers.after);
  if (data) insertEvent(tx, { account, type: EVENT, data }, endpoints, context);
}

function ownTerms(grant: Grant | undefined) {
  return grant ? { priceMicros: grant.priceMicros } : null;
}

function areEqual(a: OfferedTerms, b: OfferedTerms): boolean {
  return (Object.keys(a) as (keyof OfferedTerms)[]).every((field) => a[field] === b[field]);
}
