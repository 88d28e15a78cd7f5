// Margins of services at the rates of the last sync.

import { type Margin, marginOf } from "../../domain/catalogue/margins.ts";
import type { Route } from "../../domain/catalogue/service-routes.ts";
import { findPresentRate } from "../delivery/costs.ts";
import type { Reader } from "../port/port.ts";
import { listProviders, type Provider } from "../providers/providers.ts";
import type { Service } from "./services.ts";

/** The fields of a service that its margin needs. */
export type MarginTerms = Pick<
  Service,
  "priceMicros" | "per" | "max" | "providerId" | "providerService"
>;

/**
 * Returns the margin, or null if it is unknown: no sync has stored a rate, or the rate to USD of its currency is
 * unknown.
 */
export function readMargin(
  reader: Reader,
  service: MarginTerms,
  route: Route,
  providers: readonly Provider[],
  priceMicros = service.priceMicros,
): Margin | null {
  const provider = providers.find(({ providerId }) => providerId === route.providerId);
  if (!provider || provider.foreignCurrency !== null) return null;
  const rate = findPresentRate(reader, route);
  return rate ? marginOf(priceMicros, service, rate, provider.rateToUsd) : null;
}

/** Returns the margins at each service's first route. `priceOf`: the price that is paid. */
export function readMargins<Listed extends MarginTerms & Pick<Service, "id">>(
  reader: Reader,
  services: readonly Listed[],
  priceOf: (service: Listed) => number = ({ priceMicros }) => priceMicros,
): Map<string, Margin> {
  const providers = listProviders(reader);
  const margins = reader.each(services, (service) => {
    const route = firstRoute(service);
    return route && readMargin(reader, service, route, providers, priceOf(service));
  });
  return new Map(
    services.flatMap(({ id }, index) => {
      const margin = margins[index];
      return margin ? [[id, margin] as const] : [];
    }),
  );
}

/** Returns the margin at the first route; null if it is unknown, or for a manual service. */
export function findFirstMargin(reader: Reader, service: MarginTerms): Margin | null {
  const route = firstRoute(service);
  return route && readMargin(reader, service, route, listProviders(reader));
}

function firstRoute({ providerId, providerService }: MarginTerms): Route | null {
  return providerId === null || providerService === null ? null : { providerId, providerService };
}
