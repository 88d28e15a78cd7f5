// The plan of a sync, and the fields of services that it compares.

import type { RouteListing } from "../catalogue/route-listing.ts";
import type { ServiceType } from "../catalogue/service-types.ts";
import type { PriceUnit } from "../catalogue/services.ts";

/** The fields of one of our services that a sync needs. */
export interface KnownService extends SyncedFields {
  id: string;
  providerService: string | null;
  active: boolean;
  nameByHand: boolean;
  categoryByHand: boolean;
  priceByHand: boolean;
  minByHand: boolean;
  maxByHand: boolean;
  typeByHand: boolean;
  dripfeedByHand: boolean;
  delisted: boolean;
  suspended: boolean;
  routeDelisted: boolean;
  cancel: boolean;
  refill: boolean;
  cancelByHand: boolean;
  refillByHand: boolean;
}

/** The fields of a service that a sync copies from the provider. */
export interface SyncedFields {
  name: string;
  category: string;
  priceMicros: number;
  per: PriceUnit;
  min: number;
  max: number;
  type: ServiceType;
  dripfeed: boolean;
  cancel: boolean;
  refill: boolean;
}

export interface SyncPlan {
  /** `id`: present when it is made from the name (domain/catalogue/service-ids.ts). */
  added: (SyncedFields & { providerService: string; id?: string })[];
  /** Linked services that change. `returns`: the sync also reactivates the service. */
  updated: { id: string; before: SyncedFields; after: SyncedFields; returns: boolean }[];
  unchanged: number;
  /** Services that become inactive, because no active provider lists any of their routes any more. */
  deactivated: { id: string; name: string }[];
  /** Services reactivated by a route other than the one that sets their terms. */
  returned: { id: string; name: string }[];
  /** Routes that are no longer listed, or listed again. */
  routes: RouteListing[];
  skipped: { service: string; name: string; reason: string }[];
  /** Entries left out. Services that they may describe stay unchanged. `entry`: position in the list, from 1. */
  unreadable: { entry: number; service: string | null; reason: string }[];
  /** Our services that would be sold below the provider's rate after the plan is applied. */
  belowCost: {
    id: string | null;
    name: string;
    priceMicros: number;
    /** The provider's rate for 1,000 units, or for the package. */
    rate: string;
    isPackage: boolean;
  }[];
}

/** An upstream service as it would be in our catalogue. */
export interface TargetService extends SyncedFields {
  service: string;
  rate: string;
}
