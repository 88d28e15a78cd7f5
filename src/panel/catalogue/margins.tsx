// Margins: service prices less their providers' charges, and a warning if a price is below the charge.

/** @jsxImportSource preact */

import { findPresentRate } from "../../db/delivery/costs.ts";
import type { Reader } from "../../db/port/port.ts";
import { listProviders, type Provider } from "../../db/providers/providers.ts";
import type { Service } from "../../db/catalogue/services.ts";
import { type Margin, marginOf } from "../../domain/catalogue/margins.ts";
import type { Route } from "../../domain/catalogue/service-routes.ts";
import { Badge, Money } from "../../web/components/shown.tsx";

/**
 * Returns the margin, or null if it is unknown: no sync has brought a rate, or the rate to USD of its currency is
 * unknown.
 */
export function readMargin(
  reader: Reader,
  service: Service,
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
export function readMargins<Listed extends Service>(
  reader: Reader,
  services: readonly Listed[],
  priceOf: (service: Listed) => number,
): Map<string, Margin> {
  const providers = listProviders(reader);
  const margins = reader.each(services, (service) => {
    const { providerId, providerService } = service;
    if (providerId === null || providerService === null) return null;
    const route = { providerId, providerService };
    return readMargin(reader, service, route, providers, priceOf(service));
  });
  return new Map(
    services.flatMap(({ id }, index) => {
      const margin = margins[index];
      return margin ? [[id, margin] as const] : [];
    }),
  );
}

export function Rate({ margin }: { margin: Margin | null | undefined }) {
  return margin ? <Money micros={margin.costMicros} /> : <span class="none">–</span>;
}

export function MarginText({ margin }: { margin: Margin | null | undefined }) {
  if (!margin) return <span class="none">–</span>;
  return (
    <>
      {margin.percent === null ? "" : `${margin.percent} % `}
      {margin.isBelowCost && <Badge state="below cost" tone="bad" />}
    </>
  );
}
